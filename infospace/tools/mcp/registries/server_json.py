"""Reading a `server.json`: the entry of `mcp.json` that would connect the server, or one sentence of what is wrong.

What a registry says is nobody's word: identifiers have the form that their kind has, arguments that could run anything
are refused, and so is `${`, since `mcp.json` would put variables of the environment there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from infospace.core.errors import Invalid
from infospace.data.result import truncate
from infospace.schema.value_text import shown
from infospace.tools.mcp.registries.listed_server import BUNDLE, Checksum, ListedServer, Variable
from infospace.tools.mcp.transport.hosts import is_private_name, split_url

LONGEST_DESCRIPTION = 2_000
"""Characters of a description that are kept."""
LONGEST_TEXT = 2_000
"""Characters that an argument, a URL or a value may have."""
MAX_PARTS = 100
"""Packages, arguments or variables that an entry may have, each."""

_NAME: Final = re.compile(r"@?[A-Za-z0-9][A-Za-z0-9._-]{0,120}(?:/[A-Za-z0-9][A-Za-z0-9._-]{0,120})?")
_VERSION: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+_-]{0,99}")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_PLACEHOLDER: Final = re.compile(r"\{([A-Za-z_][A-Za-z0-9_-]{0,99})\}")
_EXPANDED: Final = re.compile(r"\$\{([A-Za-z0-9_]+)\}")
_SHA256: Final = re.compile(r"[0-9A-Fa-f]{64}")
_TAKEN_OVER: Final = re.compile(
    r"LD_.*|DYLD_.*|PATH|HOME|IFS|SHELL|ENV|BASH_ENV|NODE_OPTIONS|NODE_PATH|NPM_CONFIG_.*|PYTHON.*|PERL5.*|RUBY.*"
    r"|GIT_.*|UV_.*|PIP_.*|DOCKER_.*|JAVA_TOOL_OPTIONS|DOTNET_.*|HTTPS?_PROXY|ALL_PROXY",
    re.IGNORECASE,
)
"""Variables that would have a program run something else. No entry may set one to a value of its own."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """How packages of a kind are run: the form of their identifiers, and what may stand before these."""

    identifier: re.Pattern[str]
    commands: Sequence[str]
    runtime: Mapping[str, bool] | None
    """The options of the command that may stand there, and whether each has a value; None for all but the refused."""


_REFUSED_OF_CONTAINERS: Final = frozenset(
    {"--cap-add", "--cgroupns", "--device", "--entrypoint", "--ipc", "--pid", "--privileged"}
    | {"--runtime", "--security-opt", "--userns", "--uts"}
)
_KINDS: Final[Mapping[str, _Kind]] = {
    "npm": _Kind(
        re.compile(r"(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~][a-z0-9._~-]*"),
        ("npx",),
        {"-y": False, "--yes": False, "-q": False, "--quiet": False, "--prefer-offline": False},
    ),
    "pypi": _Kind(
        re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"),
        ("uvx",),
        {"--python": True, "-p": True, "-q": False, "--quiet": False, "--isolated": False},
    ),
    "oci": _Kind(
        re.compile(
            r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[0-9]{1,5})?(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*"
            r"(?::[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?(?:@sha256:[0-9a-f]{64})?"
        ),
        ("docker", "podman"),
        None,
    ),
    "nuget": _Kind(
        re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?"), ("dnx",), {"--yes": False, "-y": False}
    ),
}
"""How packages are run, by the kind of their registry."""


def read_server(raw: Any, *, local: bool = False) -> ListedServer:
    """Read a `server.json`. `local`: a registry on this machine serves it, and may name what is on it.

    Raises Invalid with one sentence of what is wrong.
    """
    if not isinstance(raw, Mapping):
        raise Invalid(f"it is {shown(raw)}, not an object")
    name = _text(raw, "name", required=True)
    if not _NAME.fullmatch(name):
        raise Invalid(f"{name!r:.100} cannot be a server's name", hint="such as io.github.ann/weather")
    reader = _Reader(
        name,
        truncate(_text(raw, "description", longest=10**6, lines=True), LONGEST_DESCRIPTION),
        _text(raw, "title"),
        _version(raw),
        local=local,
    )
    options: list[tuple[Callable[[Any], ListedServer], Any]] = [
        *((reader.package, one) for one in _list(raw, "packages")),
        *((reader.remote, one) for one in _list(raw, "remotes")),
    ]
    if not options:
        raise Invalid("it has neither `packages` nor `remotes`, so nothing says how it is connected")
    reasons: list[Invalid] = []
    for read, option in options:
        try:
            return read(option)
        except Invalid as error:
            reasons.append(error)
    raise reasons[0]


def read_npm_package(raw: Any, base: str | None) -> ListedServer:
    """Read a package as a search of npm lists it. `base` is the URL of the registry, None where it came as a file."""
    if not isinstance(raw, Mapping):
        raise Invalid(f"it is {shown(raw)}, not an object")
    name = _text(raw, "name", required=True)
    package = {"registryType": "npm", "identifier": name, "version": _text(raw, "version", required=True)}
    links = _list(raw, "keywords")
    tags = tuple(
        dict.fromkeys(link for link in links if isinstance(link, str) and link.isprintable() and len(link) <= 50)
    )
    description = truncate(_text(raw, "description", longest=10**6, lines=True), LONGEST_DESCRIPTION)
    reader = _Reader(name, description, "", package["version"], local=False, tags=tags)
    result = reader.package(package)
    if base is None:
        return result
    return reader.build(
        result.entry, result.package, Checksum("npm", f"{base}/{name.replace('/', '%2F')}/{package['version']}", "")
    )


@dataclass(slots=True)
class _Reader:
    """Reads the ways in which one server is connected."""

    name: str
    description: str
    title: str
    version: str
    local: bool
    tags: tuple[str, ...] = ()
    _variables: dict[str, Variable] = field(default_factory=dict)
    _optional: dict[str, Variable] = field(default_factory=dict)

    @property
    def _prefix(self) -> str:
        return _upper(self.name.rpartition("/")[2])

    def build(self, entry: Mapping[str, Any], package: str | None, checksum: Checksum | None) -> ListedServer:
        """Return the server with what was read of it."""
        return ListedServer(
            self.name,
            self.description,
            entry,
            self.title,
            self.version,
            self.tags,
            tuple(self._variables.values()),
            tuple(self._optional.values()),
            checksum,
            package,
        )

    def package(self, raw: Any) -> ListedServer:
        """Read a package: a command that runs it."""
        self._variables, self._optional = {}, {}
        if not isinstance(raw, Mapping):
            raise Invalid(f"a package of it is {shown(raw)}, not an object")
        kind = _text(raw, "registryType", required=True)
        transport = _get(raw, "transport")
        spoken = _text(transport, "type") if isinstance(transport, Mapping) else ""
        if spoken not in ("", "stdio"):
            raise Invalid(f"its package speaks {spoken!r:.60} once it runs, and only stdio is started here")
        identifier = _text(raw, "identifier", required=True)
        checksum = _text(raw, "fileSha256")
        if checksum and not _SHA256.fullmatch(checksum):
            raise Invalid(f"its `fileSha256` is {checksum!r:.80}, not a SHA-256", hint="64 hexadecimal digits")
        if kind == BUNDLE:
            return self._bundle(identifier, checksum)
        known = _KINDS.get(kind)
        if known is None:
            raise Invalid(f"its package is of the kind {kind!r:.60}", hint=f"{', '.join(_KINDS)} and mcpb are known")
        if checksum:
            raise Invalid(
                f"it gives the checksum of a file for a package of {kind}, whose file its runner fetches by itself, so "
                "that the checksum cannot be enforced"
            )
        if not known.identifier.fullmatch(identifier) or len(identifier) > 300:
            raise Invalid(f"{identifier!r:.100} cannot be the name of a package of {kind}")
        version = _text(raw, "version")
        if version and not _VERSION.fullmatch(version):
            raise Invalid(f"{version!r:.100} cannot be the version of a package")
        command = _text(raw, "runtimeHint") or known.commands[0]
        if command not in known.commands:
            raise Invalid(
                f"it is to be run by {command!r:.60}", hint=f"a package of {kind} runs by {known.commands[0]}"
            )
        runtime = self._arguments(raw, "runtimeArguments")
        _may_stand(command, runtime, known)
        own = self._arguments(raw, "packageArguments")
        env = self._environment(raw)
        entry: dict[str, Any] = {
            "command": command,
            "args": _command_line(kind, runtime, identifier, version, env, own),
        }
        if env:
            entry["env"] = env
        return self.build(entry, identifier, None)

    def _bundle(self, url: str, checksum: str) -> ListedServer:
        if not checksum:
            raise Invalid("its bundle (mcpb) has no `fileSha256`, without which it is not fetched")
        self._address(url, "the address of its bundle")
        return self.build({"command": BUNDLE, "args": [url]}, url, Checksum("file", url, checksum.lower()))

    def remote(self, raw: Any) -> ListedServer:
        """Read a server that runs behind a URL."""
        self._variables, self._optional = {}, {}
        if not isinstance(raw, Mapping):
            raise Invalid(f"a remote of it is {shown(raw)}, not an object")
        kind = _text(raw, "type") or _text(raw, "transportType", required=True)
        if kind not in ("streamable-http", "streamable"):
            raise Invalid(f"it is reached by {kind!r:.60}", hint="over HTTP that is streamable-http")
        url = _text(raw, "url", required=True)
        self._address(url, "its URL")
        entry: dict[str, Any] = {"url": self._filled(url, raw)}
        headers: dict[str, str] = {}
        for one in _list(raw, "headers"):
            name = _text(one, "name", required=True) if isinstance(one, Mapping) else ""
            if not _HEADER.fullmatch(name):
                raise Invalid(f"{name or one!r:.100} cannot be the name of a header")
            value = self._value(one, f"{self._prefix}_{_upper(name)}", what=f"the header {name}")
            if value is not None:
                headers[name] = value
        if headers:
            entry["headers"] = headers
        return self.build(entry, None, None)

    def _address(self, url: str, what: str) -> None:
        parts = split_url(url)
        host = parts.hostname or ""
        if parts.scheme not in ("http", "https") or not host or parts.username is not None:
            raise Invalid(f"{what} is {url!r:.120}", hint="https://… without a name or a password in it")
        if is_private_name(host) and not self.local:
            raise Invalid(f"{what} is {url!r:.120}, which is this machine or one of a private network")
        if parts.scheme == "http" and not self.local:
            raise Invalid(f"{what} is {url!r:.120}, which nothing protects on its way", hint="https://…")

    def _environment(self, raw: Mapping[str, Any]) -> dict[str, str]:
        results: dict[str, str] = {}
        for one in _list(raw, "environmentVariables"):
            name = _text(one, "name", required=True) if isinstance(one, Mapping) else ""
            if not _VARIABLE.fullmatch(name):
                raise Invalid(f"{name or one!r:.100} cannot be the name of a variable")
            value = self._value(one, name, what=f"the variable {name}")
            if value is None:
                continue
            if _TAKEN_OVER.fullmatch(name):
                raise Invalid(f"it sets {name}, by which a program can be made to run something else")
            results[name] = value
        return results

    def _arguments(self, raw: Mapping[str, Any], key: str) -> list[str]:
        results: list[str] = []
        for one in _list(raw, key):
            if not isinstance(one, Mapping):
                raise Invalid(f"an argument of it is {shown(one)}, not an object")
            kind = _text(one, "type", required=True)
            if kind not in ("named", "positional"):
                raise Invalid(f"an argument of it is of the type {kind!r:.60}", hint="named or positional")
            name = _text(one, "name", required=kind == "named")
            label = name if kind == "named" else _text(one, "valueHint") or "argument"
            value = self._value(one, f"{self._prefix}_{_upper(label)}", what=f"the argument {label}")
            if kind == "positional":
                results += [] if value is None else [value]
            elif value is not None:
                results += [name, value]
            elif not any(_get(one, key) for key in ("format", "valueHint", "choices")):
                results.append(name)
        return results

    def _value(self, raw: Mapping[str, Any], variable: str, *, what: str) -> str | None:
        """Return the value of an input, `${VAR}` where it is to be given; None where it may be left out."""
        for key in ("value", "default"):
            if _get(raw, key) not in (None, ""):
                text = _text(raw, key)
                if _flag(raw, "isSecret") and not _PLACEHOLDER.search(text):
                    raise Invalid(f"{what} is a secret whose value it gives itself")
                return self._filled(text, raw)
        about = Variable(variable, _text(raw, "description", lines=True)[:300], _flag(raw, "isSecret"))
        if not _flag(raw, "isRequired"):
            if _VARIABLE.fullmatch(variable) and what.startswith("the variable"):
                self._optional.setdefault(variable, about)
            return None
        self._variables.setdefault(variable, about)
        return f"${{{variable}}}"

    def _filled(self, text: str, raw: Mapping[str, Any]) -> str:
        """Return a text whose `{variables}` are values that are given, or variables of the environment."""
        declared = _get(raw, "variables")
        if declared is not None and not isinstance(declared, Mapping):
            raise Invalid(f"its `variables` are {shown(declared)}, not an object")

        def fill(match: re.Match[str]) -> str:
            one = (declared or {}).get(match[1])
            if not isinstance(one, Mapping):
                return match[0]
            for key in ("value", "default"):
                if _get(one, key) not in (None, ""):
                    return _text(one, key)
            name = f"{self._prefix}_{_upper(match[1])}"
            about = _text(one, "description", lines=True)[:300]
            self._variables.setdefault(name, Variable(name, about, _flag(one, "isSecret")))
            return f"${{{name}}}"

        filled = _PLACEHOLDER.sub(fill, text)
        names = [match[1] for match in _EXPANDED.finditer(filled)]
        if filled.count("${") != len(names) or any(name not in self._variables for name in names):
            raise Invalid("values of it make `${` together, which would put a variable of the environment there")
        return filled


def _command_line(
    kind: str, runtime: Sequence[str], identifier: str, version: str, env: Mapping[str, str], own: Sequence[str]
) -> list[str]:
    """Return the arguments of the command that runs a package."""
    if kind == "npm":
        yes = [] if {"-y", "--yes"} & set(runtime) else ["-y"]
        return [*yes, *runtime, f"{identifier}@{version}" if version else identifier, *own]
    if kind == "pypi":
        return [*runtime, f"{identifier}@{version}" if version else identifier, *own]
    if kind == "nuget":
        yes = [] if {"-y", "--yes"} & set(runtime) else ["--yes"]
        return [f"{identifier}@{version}" if version else identifier, *yes, *runtime, *(["--", *own] if own else [])]
    tagged = "@" in identifier or ":" in identifier.rpartition("/")[2]
    image = identifier if tagged or not version else f"{identifier}:{version}"
    kept = [one for one in ("-i", "--rm") if one not in runtime]
    passed = [part for name in env for part in ("-e", name)]
    return ["run", *kept, *passed, *runtime, image, *own]


def _may_stand(command: str, names: Sequence[str], kind: _Kind) -> None:
    """Raise Invalid for an argument of the command itself that could run anything."""
    at = 0
    while at < len(names):
        name, equals, _ = names[at].partition("=")
        if kind.runtime is None:
            if name in _REFUSED_OF_CONTAINERS:
                raise Invalid(f"it is to be run by `{command} {names[at]:.60}`, which lets it out of its container")
            at += 1
            continue
        if name not in kind.runtime:
            known = ", ".join(kind.runtime)
            raise Invalid(f"it is to be run by `{command} {names[at]:.60}`, which could run anything", hint=known)
        at += 2 if kind.runtime[name] and not equals else 1


def _upper(text: str) -> str:
    result = re.sub(r"[^A-Z0-9]+", "_", text.upper()).strip("_")
    return result if result and not result[0].isdigit() else f"V_{result}"


def _version(raw: Mapping[str, Any]) -> str:
    detail = _get(raw, "versionDetail")
    return _text(raw, "version") or (_text(detail, "version") if isinstance(detail, Mapping) else "")


def _get(raw: Mapping[str, Any], key: str) -> Any:
    """Return what stands under a key, also as earlier versions of the form spelt it (`registry_type`)."""
    if key in raw:
        return raw[key]
    return raw.get(re.sub(r"([A-Z])", lambda found: f"_{found[1].lower()}", key))


def _flag(raw: Mapping[str, Any], key: str) -> bool:
    value = _get(raw, key)
    if value is None or isinstance(value, bool):
        return bool(value)
    raise Invalid(f"its `{key}` is {shown(value)}, not true or false")


def _list(raw: Mapping[str, Any], key: str) -> Sequence[Any]:
    value = _get(raw, key)
    if value is None:
        return ()
    if not isinstance(value, list):
        raise Invalid(f"its `{key}` is {shown(value)}, not a list")
    if len(value) > MAX_PARTS:
        raise Invalid(f"its `{key}` has {len(value):,} items, more than {MAX_PARTS}")
    return value


def _text(
    raw: Mapping[str, Any], key: str, *, required: bool = False, longest: int = LONGEST_TEXT, lines: bool = False
) -> str:
    value = _get(raw, key)
    if isinstance(value, int | float) and not isinstance(value, bool) and key in ("value", "default"):
        value = str(value)
    if isinstance(value, bool) and key in ("value", "default"):
        value = "true" if value else "false"
    if value is None:
        if required:
            raise Invalid(f"it has no `{key}`")
        return ""
    if not isinstance(value, str):
        raise Invalid(f"its `{key}` is {shown(value)}, not a text")
    if len(value) > longest:
        raise Invalid(f"its `{key}` has {len(value):,} characters, more than {longest:,}")
    if lines:
        return " ".join("".join(one if one.isprintable() else " " for one in value).split())
    if not value.isprintable():
        raise Invalid(f"its `{key}` holds characters that cannot be shown: {value!r:.80}")
    if "${" in value:
        raise Invalid(f"its `{key}` holds `${{`, which would put a variable of the environment there")
    if required and not value.strip():
        raise Invalid(f"its `{key}` is empty")
    return value
