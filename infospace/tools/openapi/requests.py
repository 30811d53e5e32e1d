"""The request that a call of an operation makes. It goes to the base URL, whatever document and arguments say."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.tools.openapi.operations import BODY, Argument, Body, Credential, Operation, is_json

UNRESERVED = "-._~"
RESERVED = ":/?#[]@!$&'()*+,;="

_VARIABLE = re.compile(r"\{([^{}]*)\}")
_SEPARATORS = {"form": ",", "simple": ",", "spaceDelimited": "%20", "pipeDelimited": "%7C", "label": ".", "matrix": ","}
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it is sent. `fields` and `files` are of a form of several parts, by name."""

    method: str
    url: str
    headers: Mapping[str, str]
    content: bytes | None = None
    fields: Sequence[tuple[str, bytes, str | None, str | None]] = ()
    """Of a form of several parts: name, content, file's name, media type."""


def base_of(text: str) -> str:
    """Return a base URL without the slash at its end. Raises Invalid for what is no URL of a server."""
    parts = urlsplit(text)
    try:
        port_fits = parts.port is None or parts.port > 0
    except ValueError:
        port_fits = False
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_fits:
        raise Invalid("its base URL is none of a server", hint="https://api.example.org/v1")
    if "?" in text or "#" in text:
        raise Invalid("its base URL has a query or a fragment", hint="https://api.example.org/v1")
    return text.rstrip("/")


def origin(url: str) -> tuple[str, str, int | None]:
    """Return scheme, host and port of a URL."""
    parts = urlsplit(url)
    return parts.scheme, (parts.hostname or "").casefold(), parts.port or _DEFAULT_PORTS.get(parts.scheme)


def make_request(
    operation: Operation,
    base: str,
    arguments: Mapping[str, JSON],
    headers: Mapping[str, str],
    auth: Mapping[str, str],
) -> Request:
    """Return the request of a call. `headers` and `auth` are the entry's; its headers stand in place of arguments'.

    Raises Invalid for a value that cannot be sent.
    """
    places: dict[str, list[tuple[Argument, JSON]]] = {"path": [], "query": [], "header": [], "cookie": []}
    for argument in operation.arguments:
        value = arguments.get(argument.name)
        if value is not None:
            places[argument.place].append((argument, value))
        elif argument.place == "path":
            raise Invalid(f"the argument {argument.name!r} is null, and stands in the path")
    query = [part for one, value in places["query"] for part in _query(one, value)]
    sent = {"Accept": operation.accepts}
    sent |= {one.parameter: _header(one, value) for one, value in places["header"]}
    cookies = [part for one, value in places["cookie"] for part in _query(one, value)]
    for credential in way_in(operation, auth):
        value = _secret(credential, auth[credential.scheme])
        if credential.place == "query":
            query.append(f"{_escaped(credential.name)}={_escaped(value)}")
        elif credential.place == "cookie":
            cookies.append(f"{credential.name}={value}")
        else:
            sent[credential.name] = value
    if cookies:
        sent["Cookie"] = "; ".join(cookies)
    content: bytes | None = None
    fields: Sequence[tuple[str, bytes, str | None, str | None]] = ()
    if operation.body is not None and BODY in arguments:
        content, fields = _body(operation.body, arguments[BODY])
        if content is not None:
            sent["Content-Type"] = operation.body.media_type
    for name, value in headers.items():
        for known in [one for one in sent if one.casefold() == name.casefold()]:
            del sent[known]
        sent[name] = value
    url = base + _path(operation.path, places["path"]) + (f"?{'&'.join(query)}" if query else "")
    if origin(url) != origin(base):
        raise Invalid("it would go to another server than its base URL says")
    return Request(operation.method, url, sent, content, fields)


def way_in(operation: Operation, auth: Mapping[str, str]) -> Sequence[Credential]:
    """Return the credentials of the first way to be let in that the entry has all values of."""
    return next((way for way in operation.security if all(credential.scheme in auth for credential in way)), ())


def _secret(credential: Credential, value: str) -> str:
    if credential.basic:
        value = base64.b64encode(value.encode()).decode()
    return f"{credential.prefix}{value}"


def _path(path: str, arguments: Sequence[tuple[Argument, JSON]]) -> str:
    values = {one.parameter: _in_path(one, value) for one, value in arguments}
    parts: list[str] = []
    end = 0
    for match in _VARIABLE.finditer(path):
        parts += [quote(path[end : match.start()], safe="/%:@!$&'()*+,;=-._~"), values[match[1]]]
        end = match.end()
    parts.append(quote(path[end:], safe="/%:@!$&'()*+,;=-._~"))
    whole = "".join(parts)
    if any(unquote(segment) in (".", "..") for segment in whole.split("/")):
        raise Invalid("a part of its path would be `.` or `..`, which leads elsewhere")
    return whole


def _in_path(one: Argument, value: JSON) -> str:
    if one.as_json:
        return _escaped(_json(value))
    texts = _texts(one, value, _escaped)
    if one.style == "label":
        return "." + (".".join if one.explode else ",".join)(texts)
    if one.style == "matrix":
        name = _escaped(one.parameter)
        if isinstance(value, dict) and one.explode:
            return "".join(f";{text}" for text in texts)
        if isinstance(value, list) and one.explode:
            return "".join(f";{name}={text}" for text in texts)
        return f";{name}={','.join(texts)}"
    text = ",".join(texts)
    if not text:
        raise Invalid(f"the argument {one.name!r} is empty, and stands in the path")
    return text


def _query(one: Argument, value: JSON) -> Iterator[str]:
    """Iterate over the `name=value` of an argument in a query or a cookie."""
    name = _escaped(one.parameter)

    def escaped(text: str) -> str:
        return quote(text, safe=UNRESERVED + (RESERVED.replace("#", "").replace("&", "") if one.reserved else ""))

    if one.as_json:
        yield f"{name}={escaped(_json(value))}"
    elif one.style == "deepObject" and isinstance(value, dict):
        yield from _deep(name, value)
    elif isinstance(value, dict) and one.explode:
        yield from _texts(one, value, escaped)
    elif isinstance(value, list) and one.explode:
        yield from (f"{name}={text}" for text in _texts(one, value, escaped))
    else:
        yield f"{name}={_SEPARATORS.get(one.style, ',').join(_texts(one, value, escaped))}"


def _deep(name: str, value: JSON) -> Iterator[str]:
    """Iterate over `name[key]=value`, however deep."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _deep(f"{name}[{_escaped(key)}]", item)
    elif isinstance(value, list):
        for item in value:
            yield from _deep(name, item)
    elif value is not None:
        yield f"{name}={_escaped(_plain(value))}"


def _texts(one: Argument, value: JSON, escaped: Any) -> list[str]:
    """Return the texts of a value, before they are joined: an object's keys and values in turn, or `key=value`."""
    if isinstance(value, list):
        return [escaped(_plain(item)) for item in value]
    if isinstance(value, dict):
        pairs = [(escaped(key), escaped(_plain(item))) for key, item in value.items() if item is not None]
        return [f"{key}={text}" for key, text in pairs] if one.explode else [part for pair in pairs for part in pair]
    return [escaped(_plain(value))]


def _header(one: Argument, value: JSON) -> str:
    text = _json(value) if one.as_json else ",".join(_texts(one, value, str))
    if not text.isprintable() or not text.isascii():
        raise Invalid(f"the argument {one.name!r} is sent as a header, which is one line of ASCII")
    return text


def _body(body: Body, value: JSON) -> tuple[bytes | None, Sequence[tuple[str, bytes, str | None, str | None]]]:
    plain = body.media_type.partition(";")[0].strip().casefold()
    if body.binary:
        return _bytes(value, "the body"), ()
    if plain.startswith("multipart/"):
        return None, list(_parts(body, value))
    if plain.endswith("form-urlencoded"):
        pairs = value.items() if isinstance(value, dict) else ()
        results = [
            part
            for key, item in pairs
            if item is not None
            for part in (
                [f"{_escaped(key)}={_escaped(_json(item))}"]
                if isinstance(item, dict)
                else _query(Argument(key, key, "query", "form", explode=True), item)
            )
        ]
        return "&".join(results).encode(), ()
    if is_json(plain) or not isinstance(value, str):
        return _json(value).encode("utf-8", "surrogatepass"), ()
    return value.encode("utf-8", "surrogatepass"), ()


def _parts(body: Body, value: JSON) -> Iterator[tuple[str, bytes, str | None, str | None]]:
    for key, item in value.items() if isinstance(value, dict) else ():
        for one in item if isinstance(item, list) else [item]:
            if one is None:
                continue
            if key in body.binary_fields:
                yield key, _bytes(one, f"the field {key!r}"), key, "application/octet-stream"
            elif isinstance(one, dict):
                yield key, _json(one).encode(), None, "application/json"
            else:
                yield key, _plain(one).encode(), None, None


def _bytes(value: JSON, what: str) -> bytes:
    try:
        return base64.b64decode(str(value), validate=True)
    except (binascii.Error, ValueError):
        raise Invalid(f"{what} is not base64, as which bytes are given") from None


def _plain(value: JSON) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else _json(value)


def _json(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _escaped(text: str) -> str:
    return quote(text, safe=UNRESERVED)
