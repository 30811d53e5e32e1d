"""The file that `infospace serve --config` reads: scopes by name, and the tokens that have them.

    {"scopes": {"default": {"exclude_tags": ["danger"]},
                "research": {"include_servers": ["web", "time"], "rate_per_minute": 60,
                             "limits": {"results": 20, "items": 10000}, "approvals": "planner"},
                "guest": {"notes": {"where": "has(metadata.tags, 'public')"}, "runs": "own", "sessions": "own"}},
     "tokens": [{"name": "ann", "token": "${ANN_TOKEN}", "scope": "research"},
                {"name": "ops", "sha256": "…", "admin": true, "about": {"role": "operator"}}]}

A token without `scope`, and a client over standard input and output where no scope is called `stdio`, has the one
called `default`; where there is none, everything. Rules for tools know its name, its teams, whether it is an admin, and
what `about` says, as facts of `user`. What runs ask, such as whether a tool may be called, people answer,
and not the planner, where `approvals` is not `planner`.

A scope limits tools and the vocabulary, and besides

- `notes`: `all`; `read`: nothing that is kept is changed, named or made; `none`: nothing that is kept is seen either;
  `{"where": CONDITION}`: those kept Notes alone are there that satisfy it (a later change may hide one, or show it),
  and no Collections or Relations of others. What runs of the same `notes` made is seen besides.
- `runs`, `sessions`: `all`, or `own`: those alone that this caller began. Own sessions have names of their own.

What may not be seen answers as what does not exist, and is audited as `out of scope`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Final, Literal, TypeVar

from pydantic import Field, Strict

from infospace.contract.argument_errors import ArgumentsInvalid
from infospace.contract.arguments import Args
from infospace.contract.tool_signature import Signature, format_errors
from infospace.core import bounds
from infospace.core.bounds import MOST_CHARACTERS, MOST_ITEMS
from infospace.core.errors import Invalid, InvalidJSON, NotFound
from infospace.core.json_types import JSON
from infospace.core.tool import Tool
from infospace.data.json_text import read_json
from infospace.data.paths import did_you_mean, nearest
from infospace.expressions import parse_where
from infospace.store.scoped_store import Visibility, Whose
from infospace.tools.approvals import parse_tool_names, unknown_tool_names
from infospace.tools.mcp.env_vars import filled_in
from infospace.tools.scope import Bounds, Limits, Scope
from planner.metatools.arguments import LONGEST_MS, MOST_ON_PAGE
from planner.server.access import Access, Approvals, ToolSet

T = TypeVar("T")

DEFAULT, STDIO = "default", "stdio"
SHORTEST_TOKEN = 16
"""Characters of a token, at least."""

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_WHAT: Final = "the configuration"


class ScopeLimits(Limits):
    """How much a caller may ask for."""

    timeout_ms: int = Field(LONGEST_MS, ge=1, le=LONGEST_MS)
    results: int = Field(MOST_ON_PAGE, ge=1, le=MOST_ON_PAGE)
    items: int = Field(MOST_ITEMS, ge=1, description="Items that one step of a plan may make.")
    characters: int = Field(MOST_CHARACTERS, ge=1, description="Characters that one step of a plan may make.")


class NotesEntry(Args):
    """The Notes that a caller may know of."""

    where: str


class ScopeEntry(Bounds):
    """A scope as the file has it."""

    notes: Literal["all", "read", "none"] | NotesEntry = "all"
    runs: Whose = "all"
    sessions: Whose = "all"

    hide_underlying_tools: bool = True
    rate_per_minute: int | None = Field(None, ge=1)
    limits: ScopeLimits = Field(default_factory=lambda: ScopeLimits.model_validate({}))
    approve: Annotated[tuple[str, ...], Strict(False)] = ()
    approvals: Approvals | None = None

    def access(self, caller: str, approvals: Approvals) -> Access:
        """Return what a caller with this scope may do."""
        seen = {name: getattr(self, name) for name in Bounds.model_fields}
        return Access(
            caller,
            Scope(**seen),
            self.hide_underlying_tools,
            self.rate_per_minute,
            self.limits.timeout_ms,
            self.limits.results,
            parse_tool_names(self.approve),
            self.approvals or approvals,
            sight=Visibility(
                self.notes.where if isinstance(self.notes, NotesEntry) else self.notes,
                self.runs,
                self.sessions,
                caller,
            ),
            bounds=bounds.Bounds(self.limits.items, self.limits.characters),
        )


class TokenEntry(Args):
    """A token as the file has it: itself, with variables of the environment, or the SHA-256 of it."""

    name: str = Field(min_length=1)
    token: str | None = None
    sha256: str | None = None
    scope: str | None = None
    admin: bool = False
    about: dict[str, str | int | float | bool] = Field(
        default_factory=dict, description="What rules for tools know of the user, by property."
    )


class ConfigFile(Args):
    """The file of `serve --config`, as it is written."""

    scopes: dict[str, ScopeEntry] = Field(default_factory=dict, description="Scopes by name.")
    tokens: list[TokenEntry] = Field(default_factory=list, description="Who may call over HTTP.")


@dataclass(frozen=True, slots=True)
class Token:
    """A token by its SHA-256, and what whoever shows it may do."""

    digest: bytes
    access: Access


@dataclass(frozen=True, slots=True)
class Config:
    """Who may do what."""

    scopes: Mapping[str, ScopeEntry]
    tokens: Sequence[Token] = ()
    approvals: Approvals = "people"
    """Who answers where a scope does not say."""
    tools: Sequence[ToolSet] = ("core",)
    """The sets of tools that clients are told of."""

    def listing(self, tools: Sequence[ToolSet]) -> Config:
        """Return the same, where clients are told of other sets of tools."""
        tokens = [replace(token, access=replace(token.access, tools=tools)) for token in self.tokens]
        return replace(self, tokens=tokens, tools=tools)

    def access(self, caller: str, scope: str = DEFAULT) -> Access:
        """Return what a caller may do that has a scope by name, or where there is none of it the default one."""
        value = self.scopes.get(scope) or self.scopes.get(DEFAULT)
        if value is None:
            return Access(caller, approvals=self.approvals, tools=self.tools)
        return replace(value.access(caller, self.approvals), tools=self.tools)


OPEN: Final = Config({})
"""Whoever is let in may know of everything."""


def digest_of(token: str) -> bytes:
    """Return what a token is known by."""
    return sha256(token.encode()).digest()


def checked_token(token: str) -> str:
    """Return a token that may serve. Raises Invalid for one that is too short, or that a header cannot carry."""
    if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        message = f"a token has at least {SHORTEST_TOKEN} characters, ASCII without spaces"
        raise Invalid(message, hint="leave it out, and one is made")
    return token


def read_config(path: Path, environment: Mapping[str, str], approvals: Approvals = "people") -> Config:
    """Read a configuration; `approvals` is for scopes that do not say.

    Raises NotFound for no file, Invalid for one that does not fit, with the places in it.
    """
    return _read(path, lambda written: Config(written.scopes, _tokens(written, environment, approvals), approvals))


def callers_of(path: Path) -> list[Access]:
    """Return who may do what by a configuration, whatever the tokens are: none of them is looked at, nor needed.

    Whoever speaks over standard input and output is the first. Raises what `read_config` does.
    """
    return _read(path, _callers)


def _read(path: Path, take: Callable[[ConfigFile], T]) -> T:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise NotFound(f"there is no file {str(path)!r}", hint="`--config` names a JSON file") from None
    except OSError as error:
        raise Invalid(f"{str(path)!r} cannot be read: {error.strerror}") from error
    try:
        return take(_written(read_json(data, what=repr(str(path)))))
    except InvalidJSON:
        raise
    except ArgumentsInvalid as error:
        raise Invalid(f"{str(path)!r}: {format_errors(error)}") from error
    except Invalid as error:
        raise Invalid(f"{str(path)!r}: {error.message}", hint=error.hint) from error


def _callers(config: ConfigFile) -> list[Access]:
    scopes = Config(config.scopes)
    results = [scopes.access(STDIO, STDIO)]
    for at, one in enumerate(config.tokens):
        _must_have_scope(one, f"`tokens[{at}]` ({one.name})", config)
        results.append(replace(scopes.access(one.name, one.scope or DEFAULT), admin=one.admin, about=one.about))
    return results


def _must_have_scope(one: TokenEntry, where: str, config: ConfigFile) -> None:
    if one.scope is not None and one.scope not in config.scopes:
        hint = did_you_mean(one.scope, config.scopes, f"there are {', '.join(config.scopes) or 'none'}")
        raise Invalid(f"{where} has the scope {one.scope!r}, which is not there", hint=hint)


def _written(document: JSON) -> ConfigFile:
    if not isinstance(document, dict):
        raise Invalid("it is not a JSON object", hint='{"scopes": {…}, "tokens": […]}')
    config: ConfigFile = Signature(_WHAT, "", ConfigFile).validate(document)
    _must_name_tools(config)
    _must_be_conditions(config)
    return config


def _must_be_conditions(config: ConfigFile) -> None:
    for name, scope in config.scopes.items():
        if not isinstance(scope.notes, NotesEntry):
            continue
        where = f"`scopes.{name}.notes.where`"
        try:
            condition = parse_where(scope.notes.where)
        except Invalid as error:
            raise Invalid(f"{where}: {error.message}", hint=error.hint) from error
        if condition.parameters:
            raise Invalid(f"{where}: there is no ${condition.parameters[0]} here", hint="write the value itself")
        if condition.reads_clock:
            # A run shows one day throughout, and again in its replay: what it may see cannot pass with the machine's.
            message = f"{where}: there is no `today()` and no `now()` here, since what a run may see would change in it"
            raise Invalid(message, hint="write the day itself: @created >= '2026-01-31'")


def _must_name_tools(config: ConfigFile) -> None:
    for name, scope in config.scopes.items():
        try:
            parse_tool_names(scope.approve)
        except Invalid as error:
            raise Invalid(f"`scopes.{name}.approve`: {error.message}", hint=error.hint) from error


def _tokens(config: ConfigFile, environment: Mapping[str, str], approvals: Approvals) -> list[Token]:
    results: list[Token] = []
    scopes = Config(config.scopes, approvals=approvals)
    for at, one in enumerate(config.tokens):
        where = f"`tokens[{at}]` ({one.name})"
        _must_have_scope(one, where, config)
        token = Token(_digest(one, where, environment), scopes.access(one.name, one.scope or DEFAULT))
        if any(other.digest == token.digest or other.access.caller == one.name for other in results):
            raise Invalid(f"{where} has the name or the token of another one", hint="each its own")
        results.append(replace(token, access=replace(token.access, admin=one.admin, about=one.about)))
    return results


def _digest(one: TokenEntry, where: str, environment: Mapping[str, str]) -> bytes:
    if (one.token is None) == (one.sha256 is None):
        raise Invalid(f"{where} needs `token` or `sha256`, one of them", hint='"token": "${NAME_OF_A_VARIABLE}"')
    if one.sha256 is not None:
        if not _DIGEST.fullmatch(one.sha256.lower()):
            raise Invalid(f"`sha256` of {where} is not a SHA-256 digest", hint="64 digits from 0 to f")
        return bytes.fromhex(one.sha256)
    missing: list[str] = []
    token = filled_in(one.token or "", environment, missing)
    if missing:
        raise Invalid(f"{where} needs what the environment has not: {', '.join(missing)}", hint="set it")
    try:
        return digest_of(checked_token(token))
    except Invalid as error:
        raise Invalid(f"{where}: {error.message}", hint='`"sha256"` keeps it out of the file') from error


def config_warnings(config: Config, servers: Iterable[str], tools: Iterable[Tool] = ()) -> Iterator[str]:
    """Say which servers the scopes name that are not there, since one that was meant to be excluded is not; and tools.

    Of servers that were never listed nobody knows which tools they have.
    """
    known_names, listed = list(servers), list(tools)
    having = {tool.server for tool in listed}
    for name, scope in config.scopes.items():
        for key in ("include_servers", "exclude_servers"):
            for server in getattr(scope, key) or ():
                if server not in known_names:
                    near = nearest(server, known_names)
                    hint = f"; did you mean {near!r}?" if near else ""
                    yield f"`scopes.{name}.{key}` names {server!r}, and no server is called so{hint}"
        approved = [one for one in scope.approve if one.partition("/")[0] in having]
        yield from (f"`scopes.{name}.approve`: {message}" for message in unknown_tool_names(approved, listed))
