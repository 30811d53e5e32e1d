"""Reading `mcp.json`: one entry for each server. What is wrong with one is that one's alone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any, Literal, TypeAlias

from infospace.core.errors import InvalidJSON, NotFound
from infospace.core.json_types import JSON
from infospace.core.redaction import secret_arguments, secrets_in, shown_arguments, shown_url
from infospace.data.json_text import read_json
from infospace.data.paths import did_you_mean, nearest
from infospace.schema.value_text import shown
from infospace.tools.mcp.auth.settings import OAuthSettings, faults_of
from infospace.tools.mcp.catalogue.json_members import without_unreadable_members

FILE = "mcp.json"
SERVERS = "mcpServers"
PLAN = "plan:"
"""How the types of steps begin that run a saved plan."""
RESERVED = "infospace"
"""The server's name under which primitives and saved plans are found."""

CALL_S = 30.0
"""Seconds that a call may last where nobody says otherwise."""
START_S = 60.0
"""Seconds that a server has to start and answer, and then to tell its list."""
LONGEST_S = 24 * 3600.0

Severity: TypeAlias = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class EntryProblem:
    """What is wrong with an entry, or unknown in it. An error leaves the server out."""

    file: str
    server: str
    message: str
    hint: str | None = None
    severity: Severity = "error"


@dataclass(frozen=True, slots=True)
class Entry:
    """A server as a file configures it: a command, a URL, or an OpenAPI document. Variables in it stand as written."""

    name: str
    file: str
    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    oauth: OAuthSettings | None = field(default_factory=OAuthSettings)
    """How a server behind a URL is authorized that asks for it; None where it is not."""
    roots: tuple[str, ...] = ()
    """Folders that the server is told of, seen from the folder of the file."""
    openapi: str | None = None
    """The file or URL of a document whose operations are the tools."""
    base_url: str | None = None
    """Where these operations are called, and nowhere else."""
    auth: Mapping[str, str] = field(default_factory=dict)
    """Keys, tokens, or `user:password`, by the names of the document's security schemes."""
    disabled: bool = False
    disabled_tools: tuple[str, ...] = ()
    approved: tuple[str, ...] | Literal[True] = ()
    """Names of tools that nobody is asked about; true for all."""
    examples: Mapping[str, Sequence[Mapping[str, JSON]]] = field(default_factory=dict)
    """Arguments that tools may be called with, by the tools' names."""
    description: str = ""
    title: str = ""
    tags: tuple[str, ...] = ()
    category: str = ""
    trusted: bool = False
    blocked: bool = False
    visibility: str = "public"
    team: str = ""
    timeout_s: float = CALL_S
    start_timeout_s: float = START_S

    @property
    def folder(self) -> Path:
        """Where a command runs: `cwd`, seen from the folder of the file."""
        return Path(self.file).parent / (self.cwd or "")

    def root_uris(self) -> list[tuple[str, str]]:
        """Return the folders that the server is told of: the name and the `file:` URI of each."""
        base = Path(self.file).parent
        paths = [(base / Path(root).expanduser()).resolve() for root in self.roots]
        return [(path.name or str(path), path.as_uri()) for path in paths]

    @property
    def rest(self) -> bool:
        """Whether its tools are operations of an HTTP interface."""
        return self.openapi is not None

    def document_path(self, text: str) -> Path:
        """Return the path of a document, seen from the folder of the file."""
        return Path(self.file).parent / Path(text).expanduser()

    @property
    def document_stamp(self) -> tuple[int, int] | None:
        """What tells the document's file from others; None for a URL, or where there is no file."""
        if self.openapi is None or self.openapi.startswith(("http://", "https://")):
            return None
        try:
            stat = self.document_path(self.openapi).stat()
        except OSError:
            return None
        return stat.st_mtime_ns, stat.st_size

    def digest(self, salt: str) -> bytes:
        """What tells this server from another of the same name. Nobody reads `env` or `headers` out of it."""
        parts: list[object] = [self.command, self.args, dict(self.env), self.cwd, self.url, dict(self.headers)]
        if self.oauth != OAuthSettings():
            parts.append(None if self.oauth is None else self.oauth.described())
        if self.rest:
            parts += [self.openapi, self.base_url, dict(self.auth), self.document_stamp]
        text = json.dumps(parts, ensure_ascii=True, sort_keys=True)
        return hashlib.blake2b(text.encode(), key=salt.encode()[:64], digest_size=32).digest()

    def secrets(self) -> tuple[str, ...]:
        """What nobody is to read: the values of `env`, `headers`, `auth`; secrets of `oauth`, URLs and arguments."""
        urls = (self.url or "", self.openapi or "", self.base_url or "")
        names = (*secrets_in(*urls), *secret_arguments(self.args))
        signing = () if self.oauth is None else self.oauth.secrets()
        return (*self.env.values(), *self.headers.values(), *self.auth.values(), *signing, *names)

    @property
    def shown_command(self) -> list[str] | None:
        """The command with its arguments as they may be shown; None where it is a URL."""
        return None if self.command is None else [self.command, *shown_arguments(self.args)]

    @property
    def shown_url(self) -> str | None:
        """The URL as it may be shown, of an interface that of its document; None where it is a command."""
        url = self.openapi if self.url is None else self.url
        return None if url is None else shown_url(url)


@dataclass(frozen=True, slots=True)
class EntryFile:
    """What a file configures, in its order, and what is wrong with it."""

    path: str
    entries: Sequence[Entry] = ()
    problems: Sequence[EntryProblem] = ()


def read_entries(path: Path) -> EntryFile:
    """Read an `mcp.json`. Raises NotFound for no file, InvalidJSON for what is not JSON, or has no `mcpServers`."""
    where = str(path.absolute())
    servers, unreadable = _servers(path, where)
    entries: list[Entry] = []
    problems = [EntryProblem(where, name, error.message, error.hint) for name, error in unreadable.items()]
    for name, raw in servers.items():
        if name in unreadable:
            continue
        read = _Reader(where, name, twice=isinstance(servers, _Twice) and name in servers.twice)
        entry = read.entry(raw)
        problems += read.problems
        if entry is not None:
            entries.append(entry)
    return EntryFile(where, entries, problems)


class _Twice(dict[str, Any]):
    """An object in which these keys stand twice."""

    twice: frozenset[str] = frozenset()


def _servers(path: Path, where: str) -> tuple[Mapping[str, Any], Mapping[str, InvalidJSON]]:
    """Return the entries as they are written, and why some of them cannot be read."""
    unreadable: Mapping[str, InvalidJSON] = {}
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise NotFound(f"there is no file {where!r}", hint="name an `mcp.json`") from None
    except OSError as error:
        raise InvalidJSON(
            f"{where!r} cannot be read: {error.strerror}", hint="name an `mcp.json` that you may read"
        ) from None
    try:
        whole = read_json(data, what=repr(where))
    except InvalidJSON as error:
        if not error.pointer.startswith(f"/{SERVERS}/"):
            raise
        text, apart = without_unreadable_members(data.decode("utf-8-sig"), SERVERS)
        unreadable = {str(one.key): one.error for one in apart}
        try:
            whole = json.loads(text, object_pairs_hook=_object)
        except json.JSONDecodeError:
            read_json(text, what=repr(where))  # says line and column
            raise error from None
        except (RecursionError, ValueError):  # what is outside the entries is too deep, or a number too long
            raise error from None
    servers = whole.get(SERVERS) if isinstance(whole, Mapping) else None
    if not isinstance(servers, Mapping):
        near = nearest(SERVERS, whole) if isinstance(whole, Mapping) and SERVERS not in whole else None
        hint = f'it has {near!r}; did you mean "{SERVERS}"?' if near else f'{{"{SERVERS}": {{"name": {{…}}}}}}'
        raise InvalidJSON(f'{where!r} has no object "{SERVERS}"', hint=hint)
    return servers, unreadable


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = _Twice(pairs)
    keys = [key for key, _ in pairs]
    result.twice = frozenset(key for key in keys if keys.count(key) > 1)
    return result


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _texts_by_name(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())


def _seconds(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and isfinite(value) and 0 < value <= LONGEST_S


def _examples(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(setting, list) and all(isinstance(one, dict) for one in setting) for setting in value.values()
    )


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _truth(value: Any) -> bool:
    return isinstance(value, bool)


_KEYS = {
    "command": (_text, "a text"),
    "args": (_texts, "a list of texts"),
    "env": (_texts_by_name, "an object of texts"),
    "cwd": (_text, "a text"),
    "url": (_text, "a text"),
    "headers": (_texts_by_name, "an object of texts"),
    "oauth": (lambda value: value is False or isinstance(value, dict), "an object, or false"),
    "roots": (_texts, "a list of folders"),
    "openapi": (_text, "the file or URL of an OpenAPI document"),
    "base_url": (_text, "a URL"),
    "auth": (_texts_by_name, "an object of texts"),
    "type": (_text, '"stdio", "http" or "openapi"'),
    "disabled": (_truth, "true or false"),
    "disabled_tools": (_texts, "a list of tools' names"),
    "autoApprove": (lambda value: _truth(value) or _texts(value), "a list of tools' names, or true"),
    "examples": (_examples, "an object of tools' names, each with a list of arguments"),
    "description": (_text, "a text"),
    "title": (_text, "a text"),
    "tags": (_texts, "a list of texts"),
    "category": (_text, "a text"),
    "trusted": (_truth, "true or false"),
    "blocked": (_truth, "true or false"),
    "visibility": (_text, "a text"),
    "team": (_text, "a text"),
    "timeout_s": (_seconds, "seconds above 0, a day at most"),
    "start_timeout_s": (_seconds, "seconds above 0, a day at most"),
}
"""What an entry may say, and what fits."""

_OF_PROCESS = ("args", "env", "cwd")
_OF_DOCUMENT = ("base_url", "auth")
_UNUSED = {
    "command": ("headers", "oauth", *_OF_DOCUMENT),
    "url": (*_OF_PROCESS, *_OF_DOCUMENT),
    "openapi": (*_OF_PROCESS, "oauth", "roots"),
}
"""What an entry has no use for, by the way in which its server is reached."""
_TYPES = {"openapi": "openapi", "stdio": "command", "http": "url", "streamable-http": "url", "streamableHttp": "url"}


class _Reader:
    """Reads one entry, and notes what is wrong with it."""

    def __init__(self, file: str, name: str, *, twice: bool) -> None:
        self.problems: list[EntryProblem] = []
        self._file = file
        self._name = name
        self._twice = twice

    def entry(self, raw: Any) -> Entry | None:
        """Return the entry; None where anything is wrong with it."""
        self._name_fits()
        if self._twice:
            self._wrong(f"the server {self._name!r} stands twice in the file", "each name once")
        if not isinstance(raw, dict):
            self._wrong(f"it is {shown(raw)}, not an object", '{"command": …} or {"url": …}')
            return None
        for key in _doubled(raw):
            self._wrong(f"the key {key!r} stands twice in it", "each key once")
        self._keys_fit(raw)
        self._way_fits(raw)
        if any(problem.severity == "error" for problem in self.problems):
            return None
        return self._build_entry(raw)

    def _name_fits(self) -> None:
        name = self._name
        if name == RESERVED:
            message = f"a server cannot be called {RESERVED!r}: that is where primitives and saved plans are found"
            self._wrong(message, "give it another name")
        elif name.startswith(PLAN):
            message = f"a server cannot be called {name!r}: `{PLAN}` begins the names of saved plans"
            self._wrong(message, f"give it another name, such as {name.removeprefix(PLAN)!r}")
        elif not name or name != name.strip() or "/" in name or not name.isprintable():
            self._wrong(f"{name!r} cannot be a server's name", "printable, without `/`, and no blank at its ends")

    def _keys_fit(self, raw: Mapping[str, Any]) -> None:
        for key, value in raw.items():
            if key not in _KEYS:
                hint = did_you_mean(key, _KEYS, f"there are {', '.join(_KEYS)}")
                self._wrong(f"{key!r} is not a key of an entry, and is passed over", hint, "warning")
                continue
            fits, expected = _KEYS[key]
            if not fits(value):
                text = "something else" if key in ("env", "headers", "auth", "oauth") else shown(_redact(value))
                self._wrong(f"{key!r} is {expected}, not {text}")
            elif not _storable(value):
                self._wrong(f"{key!r} holds half of a character", "texts are Unicode")
            elif key == "oauth":
                for fault in faults_of(value):
                    self._wrong(fault)

    def _way_fits(self, raw: Mapping[str, Any]) -> None:
        command, url, kind = raw.get("command"), raw.get("url"), raw.get("type")
        ways = [key for key in _UNUSED if raw.get(key) is not None]
        if len(ways) != 1:
            message = (
                f"it has both {' and '.join(f'`{key}`' for key in ways)}"
                if ways
                else "it has neither `command` nor `url`"
            )
            self._wrong(message, "a command that is run, the URL of a server that runs, or `openapi`, a document")
            return
        mine = ways[0]
        for key in _UNUSED[mine]:
            if key in raw:
                self._wrong(f"{key!r} has no use beside {mine!r}", None, "warning")
        if isinstance(kind, str) and _TYPES.get(kind) != mine:
            hint = "over HTTP that is streamable HTTP" if kind == "sse" else None
            self._wrong(
                f"the type {kind!r} does not go with {mine!r}", hint or '"stdio" with `command`, "http" with `url`'
            )
        if isinstance(command, str) and (not command.strip() or "\0" in command):
            self._wrong("`command` names nothing")
        if isinstance(raw.get("openapi"), str):
            self._document_fits(raw["openapi"], raw.get("base_url"))
        if isinstance(url, str) and not url.startswith(("http://", "https://", "${")):
            self._wrong(f"{shown(shown_url(url))} is not a URL", "http://… or https://…")

    def _document_fits(self, document: str, base: Any) -> None:
        if not document.strip() or "\0" in document:
            self._wrong("`openapi` names nothing", "the file or URL of a document")
        elif "://" in document and not document.startswith(("http://", "https://", "${")):
            self._wrong(f"{shown(shown_url(document))} is neither a file nor a URL", "a path, or https://…")
        if isinstance(base, str) and not base.startswith(("http://", "https://", "${")):
            self._wrong(f"{shown(shown_url(base))} is not a URL", "https://api.example.org/v1")

    def _build_entry(self, raw: Mapping[str, Any]) -> Entry:
        values = {key: value for key, value in raw.items() if key in _KEYS and key not in ("type", "autoApprove")}
        for key in ("args", "roots", "disabled_tools", "tags"):
            values[key] = tuple(values.get(key, ()))
        for key in ("timeout_s", "start_timeout_s"):
            if key in values:
                values[key] = float(values[key])
        if "oauth" in values:
            values["oauth"] = None if values["oauth"] is False else OAuthSettings(**values["oauth"])
        approved = raw.get("autoApprove", ())
        return Entry(self._name, self._file, approved=approved if approved is True else tuple(approved or ()), **values)

    def _wrong(self, message: str, hint: str | None = None, severity: Severity = "error") -> None:
        self.problems.append(EntryProblem(self._file, self._name, message, hint, severity))


def _redact(value: Any) -> Any:
    """Return a wrong value of an entry without what is secret in its texts, and without what stands deeper in it."""
    if isinstance(value, str):
        return " ".join(shown_arguments(value.split(" ")))
    if isinstance(value, list):
        texts = iter(shown_arguments([item for item in value if isinstance(item, str)]))
        return [next(texts) if isinstance(item, str) else _cut(item) for item in value]
    if isinstance(value, dict):
        return {shown_arguments([key])[0]: _of_key(key, item) for key, item in value.items()}
    return value


def _of_key(key: str, value: Any) -> Any:
    """Return what stands under a key, which may say that it is secret, as the option before an argument does."""
    option = f"--{key}"
    if isinstance(value, list):
        return _redact([option, *value])[1:]
    return shown_arguments([option, value])[1] if isinstance(value, str) else _cut(value)


def _cut(value: Any) -> Any:
    """Return a list or an object as a sign that there was one."""
    return "…" if isinstance(value, list | dict) else value


def _doubled(value: Any) -> Iterator[str]:
    if isinstance(value, _Twice):
        yield from sorted(value.twice)
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _doubled(item)


def _storable(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True
