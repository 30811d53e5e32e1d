"""An OpenAPI document as it is read: JSON or YAML of version 3.0 or 3.1, and where its references lead."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from infospace.core.errors import Invalid, InvalidJSON
from infospace.data.json_text import read_json
from infospace.schema.value_text import shown
from infospace.tools.mcp.sanitize import LARGEST, sanitize

if TYPE_CHECKING:
    from referencing._core import Resolver

DEEPEST = 100
"""How deep lists and objects may stand in one another in a document."""
MOST_VALUES = 1_000_000
"""Values that a document may have; aliases of YAML count as often as they stand."""
SUPPORTED = "3.0 and 3.1"

_VERSION = re.compile(r"3\.[01](?:\.[0-9]+)?(?:-\S*)?")


@dataclass(frozen=True)
class Document:
    """A document whose outermost members have the right form; what stands in them is looked at one by one."""

    root: Mapping[str, Any]

    @property
    def old(self) -> bool:
        """Whether it is of version 3.0, whose schemas are of a dialect of their own."""
        return str(self.root["openapi"]).startswith("3.0")

    @cached_property
    def _resolver(self) -> Resolver[Any]:
        from referencing import Registry
        from referencing.jsonschema import DRAFT202012

        registry: Registry[Any] = Registry().with_resource("", DRAFT202012.create_resource(self.root))
        return registry.resolver()

    def lookup(self, reference: str) -> Any:
        """Return what a reference leads to. Raises Invalid for one that leads nowhere, or to another document."""
        from referencing.exceptions import Unresolvable

        if not reference.startswith("#"):
            raise Invalid(f"it refers to another document, {reference!r:.120}, which is not read")
        try:
            return self._resolver.lookup(reference).contents
        except (Unresolvable, TypeError, ValueError):
            raise Invalid(f"the reference {unquote(reference)!r:.120} leads nowhere") from None

    def followed(self, value: Any, what: str) -> Mapping[str, Any]:
        """Return an object, or what its references lead to. Raises Invalid where there is none at their end."""
        seen: set[str] = set()
        while isinstance(value, Mapping) and isinstance(value.get("$ref"), str):
            reference = value["$ref"]
            if reference in seen:
                raise Invalid(f"the reference {reference!r:.120} leads back to itself")
            seen.add(reference)
            value = self.lookup(reference)
        if not isinstance(value, Mapping):
            raise Invalid(f"{what} is {shown(value)}, not an object")
        return value


def read_document(data: bytes) -> Document:
    """Read a document. Raises Invalid with a sentence that says what is wrong with it."""
    if len(data) > LARGEST:
        raise Invalid(f"it is larger than {LARGEST // 2**20} MB")
    root = _plain(_parsed(data))
    if not isinstance(root, dict):
        raise Invalid(f"it is {shown(root)}, not an object", hint="an OpenAPI document begins with `openapi: 3.1.0`")
    if "swagger" in root and "openapi" not in root:
        hint = "a converter of OpenAPI 2.0 makes 3.0 of it"
        raise Invalid(f"it is of Swagger {root['swagger']}, and {SUPPORTED} are read", hint=hint)
    version = root.get("openapi")
    if version is None:
        raise Invalid("it has no `openapi`, which says its version", hint="an OpenAPI document has `openapi: 3.1.0`")
    if not _VERSION.fullmatch(str(version)):
        raise Invalid(f"it is of version {shown(version)}, and {SUPPORTED} are read")
    for key, needed in (("info", True), ("paths", str(version).startswith("3.0")), ("components", False)):
        if key not in root and needed:
            raise Invalid(f"it has no `{key}`", hint=f"an OpenAPI document has an object `{key}`")
        if not isinstance(root.get(key, {}), dict):
            raise Invalid(f"its `{key}` is {shown(root[key])}, not an object")
    return Document(root)


def _parsed(data: bytes) -> Any:
    text = data.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not text:
        raise Invalid("it is empty")
    if text[:1] in b"{[":
        try:
            return read_json(data, what="it", max_bytes=LARGEST)
        except InvalidJSON as error:
            raise Invalid(f"it is not JSON: {error.message}", hint=error.hint) from error
    return _yaml(data)


def _yaml(data: bytes) -> Any:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        return YAML(typ="safe", pure=True).load(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise Invalid("it is not text in UTF-8") from None
    except MarkedYAMLError as error:
        place = f" (line {error.problem_mark.line + 1})" if error.problem_mark else ""
        raise Invalid(f"it is neither JSON nor YAML: {error.problem or error.context}{place}") from None
    except (YAMLError, ValueError) as error:
        raise Invalid(f"it is neither JSON nor YAML: {str(error).splitlines()[0]}") from None
    except RecursionError:
        raise Invalid(f"it is nested more than {DEEPEST} deep") from None


def _plain(value: Any) -> Any:
    """Return what was read as JSON: keys are texts, dates too. Raises Invalid for too much of it."""
    count = 0

    def plain(value: Any, depth: int) -> Any:
        nonlocal count
        count += 1
        if count > MOST_VALUES:
            raise Invalid(
                f"it has more than {MOST_VALUES:,} values", hint="aliases of YAML count as often as they stand"
            )
        if depth > DEEPEST:
            raise Invalid(f"it is nested more than {DEEPEST} deep")
        if isinstance(value, dict):
            return {_key(key): plain(item, depth + 1) for key, item in value.items()}
        if isinstance(value, list):
            return [plain(item, depth + 1) for item in value]
        return value if value is None or isinstance(value, str | int | float | bool) else str(value)

    return sanitize(plain(value, 0))


def _key(key: Any) -> str:
    if isinstance(key, bool):
        return "true" if key else "false"
    return str(key)
