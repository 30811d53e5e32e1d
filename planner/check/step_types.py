"""The contract that a step's `type` names, and whether it can be called here."""

from __future__ import annotations

import re
from collections.abc import Mapping

from infospace.contract.decorator import Primitive
from infospace.core.json_types import JSON
from infospace.data.misspelling import closest_spelling
from infospace.data.paths import nearest
from planner.check.state import CheckState
from planner.language.problems import replace
from planner.parse.control_flow import FORMS
from planner.repair.added_columns import is_added_columns, project_of
from planner.repair.synonyms import type_elsewhere
from planner.repair.unknown_arguments import is_identified_by_arguments, suggest_types, translate_legacy

_TABLE_FILE = re.compile(r"(^|[-_])(csv|tsv|jsonl|excel)([-_]|$)", re.IGNORECASE)
"""What names of tools that read or write a table in a file have in them."""


class TypeChecker:
    """Finds the primitive of a type, and says what was meant where there is none."""

    def __init__(self, state: CheckState) -> None:
        self._state = state
        self._catalogue, self._problems = state.catalogue, state.problems

    def check_model(self, entry: Primitive, pointer: str) -> None:
        """Say that a call needs a language model and none is configured: an error, unless an `on_fail` handles it."""
        why = self._catalogue.why_unasked() if entry.asks else None
        if why is None:
            return
        message = f"{entry.type} asks a language model, and {why.message}"
        if self._state.handled:
            self._problems.warn(
                "no-model", pointer, message, why.hint or "without one it fails, which `on_fail` handles"
            )
        else:
            self._problems.error("no-model", pointer, message, why.hint or "`on_fail` can handle that there is none")

    def find(
        self, type_: str, pointer: str, raw: Mapping[str, JSON], around: str, *, forms: bool = True
    ) -> Primitive | None:
        """Return the entry of a type; that there is none is told at `pointer`, of the call that stands at `around`.

        Where it is plain which was meant, that one is returned all the same, so that its arguments are checked.
        """
        entry = self._catalogue.find(type_)
        if entry is not None:
            return entry
        former = self._catalogue.find_alias(type_)
        if former is not None:
            message, hint = f"{type_!r} is called {former.type!r} here", f'"type": "{former.type}"'
            self._problems.error("unknown-type", pointer, message, hint, translate_legacy(former, raw, pointer, around))
            return None
        if is_added_columns(type_):
            message = f"there is no step type {type_!r}"
            hint = '`project` with `"keep": true` adds fields: "fields": {"total": "price * quantity"}'
            self._problems.error("unknown-type", pointer, message, hint, project_of(raw, pointer, around))
            return None
        several = suggest_types(type_, raw, self._catalogue)
        known = [*self._catalogue.types(), *(FORMS if forms else ())]
        suggestion = closest_spelling(type_, known)
        elsewhere = type_elsewhere(type_)
        suggestion = suggestion or (elsewhere if elsewhere in known else None)
        if suggestion is None and several:
            hint = f"did you mean {' or '.join(map(repr, several))}?"
            sure = len(several) == 1 and is_identified_by_arguments(
                self._catalogue.get(several[0]), type_, raw, self._catalogue
            )
            fix = replace(pointer, several[0]) if sure else None
            self._problems.error("unknown-type", pointer, f"there is no step type {type_!r}", hint, fix)
            return None
        suggestion = suggestion or self._catalogue.tools.close_match(type_)
        near = suggestion or nearest(type_, known) or self._catalogue.tools.closest(type_)
        hint = f"did you mean {near!r}?" if near else self._catalogue.nearest_types(type_, FORMS if forms else ())
        if suggestion is None and _TABLE_FILE.search(type_):
            hint = "a table is an input, --input rows=@FILE.csv, and the plan's result goes to a file by --out FILE.csv"
        fix = replace(pointer, suggestion) if suggestion else None
        self._problems.error("unknown-type", pointer, f"there is no step type {type_!r}", hint, fix)
        return self._catalogue.find(suggestion) if suggestion else None
