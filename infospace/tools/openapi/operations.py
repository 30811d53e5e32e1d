"""The operations of a document as tools: what each is called, what it takes and gives, and how HTTP carries that."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ValidationError

from infospace.core.errors import Invalid
from infospace.data.result import truncate
from infospace.schema.value_text import shown
from infospace.store.tool_records import ListedTool
from infospace.tools.mcp.catalogue.listing import LONGEST_TEXT, MAX_LISTED, RefusedEntry
from infospace.tools.openapi.document import Document
from infospace.tools.openapi.schemas import SchemaReader, check_types

Place: TypeAlias = Literal["path", "query", "header", "cookie"]

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
BODY = "body"
"""The argument that is sent as the body."""
LONGEST_NAME = 64
"""Characters of a tool's name, which some models' interfaces bound so."""
OWN_HEADERS = frozenset(
    {
        *("accept", "accept-encoding", "authorization", "connection", "content-length", "content-type", "cookie"),
        *("expect", "host", "keep-alive", "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade"),
    }
)
"""Headers that no argument fills: they belong to the connection, or to the server's entry."""

_ONLY_READS = {"read_only": True, "idempotent": True, "destructive": False}
_HINTS: Mapping[str, Mapping[str, bool]] = {
    "get": _ONLY_READS,
    "head": _ONLY_READS,
    "options": _ONLY_READS,
    "trace": _ONLY_READS,
    "put": {"read_only": False, "idempotent": True, "destructive": True},
    "delete": {"read_only": False, "idempotent": True, "destructive": True},
    "patch": {"read_only": False, "destructive": True},
    "post": {},
}
"""What HTTP says of its methods; it does not say whether a POST adds something or takes it away."""
_STYLES: Mapping[str, tuple[str, ...]] = {
    "path": ("simple", "label", "matrix"),
    "query": ("form", "spaceDelimited", "pipeDelimited", "deepObject"),
    "header": ("simple",),
    "cookie": ("form",),
}
"""How values are written in each place; the first is the usual."""
_VARIABLE = re.compile(r"\{([^{}]*)\}")
_SIGNS = re.compile(r"[^A-Za-z0-9_.-]+")


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a tool, and the parameter that it is sent as."""

    name: str
    parameter: str
    place: Place
    style: str
    explode: bool
    as_json: bool = False
    reserved: bool = False
    """Whether signs that mean something in a URL are sent as they are."""


@dataclass(frozen=True, slots=True)
class Body:
    """What an operation takes as its body. `binary` is given as base64; `encodings` are of the fields of a form."""

    media_type: str
    binary: bool = False
    binary_fields: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Credential:
    """Where the value of a security scheme goes. `prefix` stands before it."""

    scheme: str
    place: Literal["query", "header", "cookie"]
    name: str
    prefix: str = ""
    basic: bool = False


@dataclass(frozen=True, slots=True)
class Operation:
    """A tool, and the request that calls it."""

    listed: ListedTool
    method: str
    path: str
    arguments: Sequence[Argument] = ()
    body: Body | None = None
    security: Sequence[Sequence[Credential]] = ()
    """Ways to be let in, each of all its credentials; without any nobody is kept out."""
    accepts: str = "*/*"


@dataclass(slots=True)
class Operations:
    """The operations of a document by the tools' names, and those that cannot be taken."""

    found: dict[str, Operation] = field(default_factory=dict)
    refused: list[RefusedEntry] = field(default_factory=list)


def read_operations(document: Document) -> Operations:
    """Read the operations of a document; one that is wrong is refused alone. Raises Invalid for too many."""
    raw = list(_raw_operations(document))
    if len(raw) > MAX_LISTED:
        raise Invalid(f"it has more than {MAX_LISTED:,} operations")
    names = _names([(method, path, one) for method, path, _, one in raw])
    read = _Reader(document)
    done = Operations()
    for (method, path, item, one), name in zip(raw, names, strict=True):
        try:
            done.found[name] = read.operation(name, method, path, item, one)
        except Invalid as error:
            done.refused.append(RefusedEntry("tool", name, error.message))
        except RecursionError:
            done.refused.append(RefusedEntry("tool", name, "it is nested without end"))
    return done


def _raw_operations(document: Document) -> Iterator[tuple[str, str, Any, Any]]:
    """Iterate over method, path, path item and operation, in the order of the document."""
    for path, value in document.root.get("paths", {}).items():
        if path.startswith("x-"):
            continue
        try:
            item = document.followed(value, f"the path {path!r:.120}")
        except Invalid as error:
            yield "*", path, {}, error
            continue
        for method in METHODS:
            if method in item:
                yield method, path, item, item[method]


def _names(operations: Sequence[tuple[str, str, Any]]) -> list[str]:
    """Return what the tools are called: by `operationId` where that is there once, else by method and path."""
    own = [_own_name(one) for _, _, one in operations]
    plain = [_SIGNS.sub("_", name).strip("_") for name in own]
    counts = Counter(name.casefold() for name in plain if name)
    expected = [
        name if name and counts[name.casefold()] == 1 else _by_path(method, path)
        for name, (method, path, _) in zip(plain, operations, strict=True)
    ]
    twice = Counter(name.casefold() for name in expected)
    return [
        _short(name, f"{method} {path}", always=twice[name.casefold()] > 1)
        for name, (method, path, _) in zip(expected, operations, strict=True)
    ]


def _own_name(operation: Any) -> str:
    name = operation.get("operationId") if isinstance(operation, Mapping) else None
    return name if isinstance(name, str) else ""


def _by_path(method: str, path: str) -> str:
    return "_".join(filter(None, (method.strip("*"), _SIGNS.sub("_", path).strip("_")))) or "operation"


def _short(name: str, of: str, *, always: bool) -> str:
    """Return a name that is short enough, and another one's never."""
    if len(name) <= LONGEST_NAME and not always:
        return name
    mark = hashlib.blake2b(of.encode(), digest_size=4).hexdigest()
    return f"{name[: LONGEST_NAME - len(mark) - 1]}_{mark}"


class _Reader:
    """Reads operations one by one. Raises Invalid for what is wrong with one."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._takes = SchemaReader(document, "input")
        self._gives = SchemaReader(document, "output")

    def operation(self, name: str, method: str, path: str, item: Mapping[str, Any], raw: Any) -> Operation:
        if isinstance(raw, Invalid):
            raise raw
        if not path.startswith("/"):
            raise Invalid(f"the path {path!r:.120} does not begin with `/`")
        if not isinstance(raw, Mapping):
            raise Invalid(f"it is {shown(raw)}, not an object")
        parameters = self._parameters(item, raw)
        security = self._security(raw)
        given = {(credential.place, credential.name.casefold()) for way in security for credential in way}
        expected = [
            parameter for parameter in parameters if (parameter["in"], parameter["name"].casefold()) not in given
        ]
        self._path_fits(path, expected)
        arguments, properties, required = self._arguments(expected)
        body, schema = self._body(raw)
        if body is not None:
            properties[BODY], needed = schema
            required += [BODY] if needed else []
        returns, accepts = self._answers(raw)
        return Operation(
            self._listed(name, method, path, raw, (properties, required), returns),
            method.upper(), path, arguments, body, security, accepts,
        )  # fmt: skip

    def _listed(
        self,
        name: str,
        method: str,
        path: str,
        raw: Mapping[str, Any],
        takes: tuple[Mapping[str, Any], Sequence[str]],
        returns: Mapping[str, Any] | None,
    ) -> ListedTool:
        summary, description = (_text(raw.get(key)) for key in ("summary", "description"))
        parts = [summary if summary and summary not in description else "", description]
        if raw.get("deprecated") is True:
            parts.append("Deprecated.")
        hints = _HINTS[method]
        tags = tuple(tag for tag in _list(raw.get("tags")) if isinstance(tag, str))
        return ListedTool(
            name=name,
            title=summary,
            description=truncate("\n".join(filter(None, parts)) or f"{method.upper()} {path}", LONGEST_TEXT),
            input_schema=_object(*takes),
            output_schema=returns,
            tags=tags,
            category=tags[0] if tags else "",
            read_only=hints.get("read_only"),
            idempotent=hints.get("idempotent"),
            destructive=hints.get("destructive"),
        )

    def _parameters(self, item: Mapping[str, Any], raw: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Return the parameters of a path and of its operation, whose own come before the path's of the same name."""
        results: dict[tuple[str, str], Mapping[str, Any]] = {}
        for owner in (item, raw):
            for value in _list(owner.get("parameters"), "parameters"):
                one = self._document.followed(value, "a parameter")
                self._fits("Parameter", {**one, "schema": {}} if "schema" in one else one, "a parameter")
                if one["in"] == "header" and one["name"].casefold() in OWN_HEADERS:
                    continue
                results[one["in"], one["name"]] = one
        return list(results.values())

    def _path_fits(self, path: str, parameters: Sequence[Mapping[str, Any]]) -> None:
        there = set(_VARIABLE.findall(path))
        declared = {parameter["name"] for parameter in parameters if parameter["in"] == "path"}
        for name in sorted(there - declared):
            raise Invalid(f"its path {path!r:.120} has {{{name}}}, and no parameter of that name")
        for name in sorted(declared - there):
            raise Invalid(f"its parameter {name!r:.80} is not in its path {path!r:.120}")

    def _arguments(self, parameters: Sequence[Mapping[str, Any]]) -> tuple[list[Argument], dict[str, Any], list[str]]:
        names = Counter(parameter["name"] for parameter in parameters)
        arguments: list[Argument] = []
        properties: dict[str, Any] = {}
        required: list[str] = []
        for parameter in parameters:
            name, place = parameter["name"], parameter["in"]
            called = name if names[name] == 1 and name != BODY else f"{name}_{place}"
            if called in properties:
                raise Invalid(f"it has two parameters {called!r:.80}")
            usual = _STYLES[place]
            style = parameter.get("style", usual[0])
            if style not in usual:
                raise Invalid(
                    f"its parameter {name!r:.80} has the style {style!r}, and in {place} there are {', '.join(usual)}"
                )
            media = _content(parameter)
            explode = parameter.get("explode", style in ("form", "deepObject"))
            reserved = parameter.get("allowReserved") is True
            arguments.append(Argument(called, name, place, style, bool(explode), media is not None, reserved))
            schema = media.get("schema") if media else parameter.get("schema", {})
            check_types(self._document, schema, f"its parameter {name!r:.80}")
            properties[called] = self._described(schema, parameter)
            if place == "path" or parameter.get("required") is True:
                required.append(called)
        return arguments, properties, required

    def _described(self, schema: Any, one: Mapping[str, Any]) -> dict[str, Any]:
        """Return the schema of a parameter with what the parameter says of it."""
        result = dict(self._takes.read(schema))
        text = _text(one.get("description"))
        if text:
            result["description"] = text
        example = one.get("example")
        if example is not None and "examples" not in result:
            result["examples"] = [example]
        if one.get("deprecated") is True:
            result["deprecated"] = True
        return result

    def _body(self, raw: Mapping[str, Any]) -> tuple[Body | None, tuple[dict[str, Any], bool]]:
        if raw.get("requestBody") is None:
            return None, ({}, False)
        value = self._document.followed(raw["requestBody"], "its request body")
        content = value.get("content")
        self._fits(
            "RequestBody", {**value, "content": {}} if isinstance(content, Mapping) else value, "its request body"
        )
        if not content:
            return None, ({}, False)
        media_type = min(content, key=_preferred)
        media = content[media_type]
        if not isinstance(media, Mapping):
            raise Invalid(f"its request body of the type {media_type!r:.80} is {shown(media)}, not an object")
        schema = media.get("schema", {})
        check_types(self._document, schema, "its request body")
        result = self._described(schema, value)
        binary = _is_binary(media_type, result)
        if binary:
            result = {
                "type": "string",
                "contentEncoding": "base64",
                **{k: v for k, v in result.items() if k == "description"},
            }
        elif _is_text(media_type) and "type" not in result:
            result["type"] = "string"
        fields = frozenset(
            name
            for name, one in result.get("properties", {}).items()
            if isinstance(one, Mapping)
            and (one.get("format") == "binary" or one.get("contentMediaType") == "application/octet-stream")
        )
        return Body(media_type, binary, fields), (result, value.get("required") is True)

    def _answers(self, raw: Mapping[str, Any]) -> tuple[Mapping[str, Any] | None, str]:
        """Return the schema of what a good answer holds, None where nothing is said of it, and the types to ask for."""
        responses = raw.get("responses", {})
        if not isinstance(responses, Mapping):
            raise Invalid(f"its responses are {shown(responses)}, not an object")
        good = sorted(status for status in responses if status[:1] == "2") or [
            one for one in ("default",) if one in responses
        ]
        for status in good:
            value = self._document.followed(responses[status], f"its response {status}")
            content = value.get("content", {})
            if not isinstance(content, Mapping):
                raise Invalid(f"the content of its response {status} is {shown(content)}, not an object")
            if content:
                as_json = next((one for one in content if is_json(one)), None)
                media = None if as_json is None else content[as_json]
                schema = media.get("schema") if isinstance(media, Mapping) else None
                accepts = ", ".join(one for one in content if one.isascii() and one.isprintable()) or "*/*"
                return (None if schema is None else self._gives.read(schema)), accepts
        return None, "*/*"

    def _security(self, raw: Mapping[str, Any]) -> list[list[Credential]]:
        ways = raw.get("security", self._document.root.get("security", []))
        results: list[list[Credential]] = []
        for way in _list(ways, "security"):
            if not isinstance(way, Mapping):
                raise Invalid(f"what it says of `security` is {shown(way)}, not an object")
            if not way:
                return []
            results.append([self._credential(name) for name in way])
        return results

    def _credential(self, name: str) -> Credential:
        components = self._document.root.get("components", {})
        schemes = components.get("securitySchemes", {})
        if not isinstance(schemes, Mapping) or name not in schemes:
            raise Invalid(f"it asks for the security scheme {name!r:.80}, which the document does not have")
        scheme = self._document.followed(schemes[name], f"the security scheme {name!r:.80}")
        kind = scheme.get("type")
        if kind == "apiKey":
            self._fits("SecurityScheme", scheme, f"the security scheme {name!r:.80}")
            place = scheme.get("in")
            if place not in ("query", "header", "cookie") or not isinstance(scheme.get("name"), str):
                raise Invalid(f"the security scheme {name!r:.80} does not say where its key goes")
            return Credential(name, place, scheme["name"])
        if kind == "http":
            basic = str(scheme.get("scheme", "")).casefold() == "basic"
            return Credential(name, "header", "Authorization", "Basic " if basic else "Bearer ", basic)
        if kind in ("oauth2", "openIdConnect"):
            return Credential(name, "header", "Authorization", "Bearer ")
        if kind == "mutualTLS":
            raise Invalid(f"it asks for a client's certificate ({name!r:.80}), and none is sent")
        raise Invalid(f"the security scheme {name!r:.80} is of the type {shown(kind)}")

    def _fits(self, model: str, value: Mapping[str, Any], what: str) -> None:
        """Hold a part against the model of its version. Raises Invalid."""
        try:
            _models(old=self._document.old)[model].model_validate(dict(value))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            called = value.get("name")
            name = f"{what} {called!r:.80}" if isinstance(called, str) else what
            raise Invalid(f"{name} is wrong: `{place}`: {first['msg']}") from None


def _models(*, old: bool) -> Mapping[str, type[BaseModel]]:
    if old:
        from openapi_pydantic.v3 import v3_0 as models
    else:
        from openapi_pydantic.v3 import v3_1 as models  # type: ignore[no-redef]
    return {name: getattr(models, name) for name in ("Parameter", "RequestBody", "SecurityScheme")}


def is_json(media_type: str) -> bool:
    """Whether a media type is JSON."""
    plain = media_type.partition(";")[0].strip().casefold()
    return plain in ("application/json", "text/json") or plain.endswith("+json")


def _is_text(media_type: str) -> bool:
    return media_type.partition("/")[0].casefold() == "text" or "xml" in media_type


def _is_binary(media_type: str, schema: Mapping[str, Any]) -> bool:
    plain = media_type.partition(";")[0].casefold()
    if plain in ("application/octet-stream", "*/*") or plain.partition("/")[0] in ("image", "audio", "video"):
        return schema.get("format") != "byte" and "contentEncoding" not in schema
    return schema.get("format") == "binary"


def _preferred(media_type: str) -> int:
    """Rank the types that a body may have: JSON, forms, texts, the rest."""
    plain = media_type.partition(";")[0].casefold()
    kinds = (is_json(plain), plain.endswith("form-urlencoded"), plain.startswith("multipart/"), plain == "text/plain")
    return kinds.index(True) if True in kinds else len(kinds)


def _content(parameter: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return what a parameter says that it holds, where it is written as a media type has it."""
    content: Mapping[str, Mapping[str, Any]] | None = parameter.get("content")
    return next(iter(content.values())) if content else None


def _object(properties: Mapping[str, Any], required: Sequence[str]) -> dict[str, Any]:
    """Return the schema of arguments; what the schemas of single ones define stands at its top."""
    definitions: dict[str, Any] = {}
    lifted: dict[str, Any] = {}
    for name, schema in properties.items():
        own = dict(schema)
        for called, definition in own.pop("$defs", {}).items():
            definitions.setdefault(called, definition)
        lifted[name] = own
    result: dict[str, Any] = {"type": "object", "properties": lifted, "additionalProperties": False}
    if required:
        result["required"] = list(required)
    if definitions:
        result["$defs"] = definitions
    return result


def _list(value: Any, what: str = "") -> Sequence[Any]:
    if value is None or (not what and not isinstance(value, list)):
        return ()
    if not isinstance(value, list):
        raise Invalid(f"its `{what}` is {shown(value)}, not a list")
    return value


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""
