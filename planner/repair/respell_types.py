"""What is done by a step in the words of other systems: `tool_use`, a function within, a verb for a key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from infospace.data.json_text import dump
from infospace.data.misspelling import closest_spelling, words_of
from planner.language.problems import Patch, join
from planner.parse.control_flow import FORMS
from planner.parse.fields import COMMON, SAVED
from planner.repair.added_columns import is_added_columns
from planner.repair.respelt import Respelt, Spelling
from planner.repair.step_keys import ARGUMENTS, CALLS, HOLDERS, SINGLE, TYPE
from planner.repair.synonyms import ARGUMENTS as SYNONYMS
from planner.repair.synonyms import type_elsewhere

STRUCTURED = "filter-structured"

_SELECT = re.compile(r"\s*(?:select|with)\b", re.IGNORECASE)
"""How the SQL of a `query` begins."""


class TypeSpeller:
    """Finds what a step is, wherever it says so."""

    def __init__(self, respelt: Respelt) -> None:
        self._respelt = respelt
        self._catalogue = respelt.catalogue

    def is_step(self, raw: Mapping[str, Any]) -> bool:
        """Whether an object is a step by any of its keys."""
        return "type" in raw or any(self._named(raw, key) for key in TYPE) or self._single(raw) is not None

    def spell(self, pointer: str) -> None:
        """Write the type of a step where it stands elsewhere, or only says that something is called."""
        raw: Any = self._respelt.at(pointer)
        type_ = raw.get("type") if isinstance(raw, dict) else 0
        if isinstance(type_, str) and type_:
            if self._is_known(type_) or "/" in type_ or is_added_columns(type_):
                return
            if "_".join(words_of(type_)) in CALLS and self._call(pointer, raw, type_):
                return
            self._other_type(pointer, type_)
        elif isinstance(raw, dict) and "type" not in raw and not self._call(pointer, raw, None):
            self._key(pointer, raw)

    def _is_known(self, type_: str) -> bool:
        return (
            type_ in FORMS
            or type_.startswith(SAVED)
            or self._catalogue.find(type_) is not None
            or (self._catalogue.find_alias(type_) is not None)
        )

    def _resolved(self, value: object) -> str | None:
        """Return the type that is written: a verb, a form, a tool, a saved plan."""
        if not isinstance(value, str) or not value or " " in value.strip():
            return None
        if self._is_known(value) or self._catalogue.tools.find(value) is not None:
            return value
        known_names = [*self._catalogue.types(), *FORMS]
        elsewhere = type_elsewhere(value)
        suggestion = closest_spelling(value, known_names) or (elsewhere if elsewhere in known_names else None)
        return suggestion or self._catalogue.tools.close_match(value)

    def _named(self, raw: Mapping[str, Any], key: str) -> str | None:
        """The type that a key names, perhaps with the server in another."""
        value = raw.get(key)
        for holder in ("server", "server_name", "mcp_server"):
            if isinstance(raw.get(holder), str) and isinstance(value, str):
                return self._resolved(f"{raw[holder]}/{value}")
        return self._resolved(value)

    def _other_type(self, pointer: str, type_: str) -> None:
        """A form, or a tool, that is called otherwise; of verbs the check tells it with their arguments."""
        elsewhere = type_elsewhere(type_)
        known_names = [*FORMS, *self._catalogue.types()]
        suggestion = closest_spelling(type_, known_names) or (elsewhere if elsewhere in known_names else None)
        suggestion = suggestion or self._filtered(pointer, type_)
        if suggestion is None and not any(name.startswith(f"{type_}-") for name in known_names):
            suggestion = self._catalogue.tools.close_match(type_)
        if suggestion is not None:
            place = join(pointer, "type")
            patch: Patch = [{"op": "replace", "path": place, "value": suggestion}]
            message = f"there is no step type {type_!r}"
            self._respelt.take(Spelling("unknown-type", place, message, f"did you mean {suggestion!r}?", patch))

    def _filtered(self, pointer: str, type_: str) -> str | None:
        """Return `filter-structured` for a `filter` whose condition compares, as no predicate in words does."""
        raw: Any = self._respelt.at(pointer)
        texts = [raw[key] for key in ("where", *SYNONYMS["where"]) if isinstance(raw.get(key), str)]
        compares = len(texts) == 1 and re.search(r"[<>=]|\b(?:IN|LIKE|IS|BETWEEN)\b", texts[0]) is not None
        return STRUCTURED if type_.lower() == "filter" and compares and self._catalogue.find(STRUCTURED) else None

    def _call(self, pointer: str, raw: Mapping[str, Any], type_: str | None) -> bool:
        """A step whose type says no more than that it is a call, or that has none."""
        for holder in HOLDERS:
            if isinstance(raw.get(holder), dict) and self._unwrap_call(pointer, raw, holder, type_):
                return True
        for key in TYPE:
            suggestion = self._named(raw, key) if key in raw else None
            if suggestion is None or (key == "name" and suggestion != raw[key] and "/" not in suggestion):
                continue
            place = join(pointer, "type")
            server = [one for one in ("server", "server_name", "mcp_server") if one in raw and "/" in suggestion]
            gone: Patch = [{"op": "remove", "path": join(pointer, one)} for one in server]
            if type_ is not None:
                patch: Patch = [
                    {"op": "replace", "path": place, "value": suggestion},
                    {"op": "remove", "path": join(pointer, key)},
                ]
                self._say_call(pointer, type_, f"`{key}`", suggestion, patch + gone)
                return True
            patch = [{"op": "move", "from": join(pointer, key), "path": place}]
            if suggestion != raw[key]:
                patch.append({"op": "replace", "path": place, "value": suggestion})
            hint = f'"type": "{suggestion}", not {dump(key)}'
            self._respelt.take(Spelling("missing-type", pointer, "the step has no `type`", hint, patch + gone))
            return True
        return False

    def _unwrap_call(self, pointer: str, raw: Mapping[str, Any], holder: str, type_: str | None) -> bool:
        """A call within a key: `{"function": {"name": …, "arguments": …}}`."""
        inner, place = raw[holder], join(pointer, holder)
        key = next((one for one in ("name", "tool", "tool_name", "type") if self._resolved(inner.get(one))), None)
        held = next((one for one in ARGUMENTS if one in inner), None)
        if key is None or not inner.keys() <= {key, held, "id", "description"}:
            return False
        suggestion = str(self._resolved(inner[key]))
        at = join(pointer, "type")
        patch: Patch = [{"op": "add" if type_ is None else "replace", "path": at, "value": suggestion}]
        if held is not None:
            patch.append({"op": "move", "from": join(place, held), "path": join(pointer, "arguments")})
        for other in ("description", "id"):
            if other in inner and other not in raw:
                patch.append({"op": "move", "from": join(place, other), "path": join(pointer, other)})
        patch.append({"op": "remove", "path": place})
        if raw.get("method") == "tools/call":
            patch += [{"op": "remove", "path": join(pointer, one)} for one in ("method", "jsonrpc") if one in raw]
        if held is not None and "arguments" in raw:
            return False
        self._say_call(pointer, type_, f"`{holder}`", suggestion, patch)
        return True

    def _say_call(self, pointer: str, type_: str | None, where: str, suggestion: str, patch: Patch) -> None:
        hint = f'"type": "{suggestion}"'
        if type_ is None:
            self._respelt.take(Spelling("missing-type", pointer, "the step has no `type`", hint, patch))
            return
        message = f"there is no step type {type_!r}: a step's type is what {where} names"
        self._respelt.take(Spelling("unknown-type", join(pointer, "type"), message, hint, patch))

    def _single(self, raw: Mapping[str, Any]) -> str | None:
        """The key that is the type itself: `{"if": …, "then": …}`, `{"server/tool": {…}}`."""
        results = [key for key in raw if key not in COMMON and self._is_type(key, raw[key])]
        return results[0] if len(results) == 1 else None

    def _is_type(self, key: str, value: Any) -> bool:
        suggestion = self._resolved(key)
        if suggestion is None or (
            words_of(key) != words_of(suggestion) and "/" not in suggestion and type_elsewhere(key) != suggestion
        ):
            return False
        if suggestion == "query" and isinstance(value, str) and not _SELECT.match(value):
            return False  # words to search for: several primitives have a `query`
        return suggestion in SINGLE or (isinstance(value, dict) and suggestion not in FORMS)

    def _key(self, pointer: str, raw: Mapping[str, Any]) -> None:
        key = self._single(raw)
        if key is None:
            return
        suggestion, place, value = str(self._resolved(key)), join(pointer, key), raw[key]
        patch: Patch = [{"op": "add", "path": join(pointer, "type"), "value": suggestion}]
        if isinstance(value, dict) and suggestion not in FORMS and self._catalogue.find(suggestion) is not None:
            if value.keys() & raw.keys():
                return
            patch += [{"op": "move", "from": join(place, name), "path": join(pointer, name)} for name in value]
            patch.append({"op": "remove", "path": place})
        elif suggestion in SINGLE:
            patch.append({"op": "move", "from": place, "path": join(pointer, SINGLE[suggestion])})
        else:
            patch.append({"op": "move", "from": place, "path": join(pointer, "arguments")})
        self._respelt.take(
            Spelling("missing-type", pointer, "the step has no `type`", f'"type": "{suggestion}"', patch)
        )
