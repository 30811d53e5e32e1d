"""What worked before: calls of tools that went well in a space, as examples, and as what the tools are asked for.

They are read from the journal's runs, so that what is removed with a run is forgotten. What may be a secret, or is
long, is none of them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON

if TYPE_CHECKING:
    from infospace.core.tool import Tool
    from infospace.store.protocol import Store
    from infospace.store.tool_records import SuccessfulCall
    from infospace.tools.search.results import CallExample

SWITCH = "INFOSPACE_REMEMBER_CALLS"

MAX_EXAMPLES = 1_000
"""Calls that are remembered, the latest."""

EXAMPLES = 5
"""Examples that are shown of a tool."""

_SECRET = re.compile(
    r"pass(word|wd|phrase|code)|secret|token|api.?key|credential|authori[sz]ation|cookie|private", re.IGNORECASE
)

_KEY = re.compile(
    r"\b(bearer|basic)\s+[\w.~+/=-]{8,}|\b(sk|pk|rk|gh[pousr]|glpat|github_pat|xox[a-z]|hf|npm|pypi)[-_][\w-]{10,}"
    r"|\bA(KI|SI)A[A-Z0-9]{12,}|\beyJ[\w-]{8,}\.[\w-]{8,}|-----BEGIN [A-Z ]*PRIVATE KEY|://[^/\s:@]+:[^/\s@]+@",
    re.IGNORECASE,
)
"""What keys and tokens look like, wherever they stand: of a header, of the better known services, in a URL."""


def calls_are_remembered() -> bool:
    """Whether calls are remembered: unless INFOSPACE_REMEMBER_CALLS is `off`. Raises Invalid for another word."""
    text = os.environ.get(SWITCH, "").strip().lower()
    if text not in ("", "on", "off"):
        raise Invalid(f"{SWITCH} is {text!r}", hint="`on`, which is the default, or `off`")
    return text != "off"


class SuccessfulCallCache:
    """What worked before in a store, as far as that shows it: the same list until it is something else."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._last: tuple[int, Sequence[CallExample]] | None = None

    def __call__(self) -> Sequence[CallExample]:
        """Return it, the latest first."""
        with self._store.reading() as snapshot:
            generation = snapshot.successful_calls_generation()
            if self._last is None or self._last[0] != generation:
                self._last = generation, call_examples(snapshot.successful_calls(MAX_EXAMPLES))
        return self._last[1]


def call_examples(calls: Sequence[SuccessfulCall]) -> list[CallExample]:
    """Return successes by what they were asked for, and with what.

    Those given nothing show nothing, and are left out, as are those given what may be a secret.
    """
    from infospace.tools.search.results import CallExample

    return [
        CallExample("" if call.tool in call.goal else call.goal, call.tool, call.arguments)
        for call in calls
        if call.arguments and not _is_secret(dict(call.arguments))
    ]


def examples_of(tool: Tool, successes: Sequence[CallExample]) -> list[Mapping[str, JSON]]:
    """Return the examples of a tool: its own, then what it was called with and still takes, the latest first."""
    from infospace.schema.validate import validate

    results: list[Mapping[str, JSON]] = list(tool.examples)
    for example in successes:
        if len(results) >= max(EXAMPLES, len(tool.examples)):
            break
        if (
            example.tool == tool.full_name
            and example.arguments not in results
            and not validate(dict(example.arguments), tool.input_schema)
        ):
            results.append(example.arguments)
    return results


def _is_secret(value: JSON) -> bool:
    """Whether a key anywhere in a value names a secret, or a text holds what looks like one."""
    match value:
        case str():
            return _KEY.search(value) is not None
        case dict():
            return any(_SECRET.search(key) or _is_secret(inner) for key, inner in value.items())
        case list():
            return any(_is_secret(inner) for inner in value)
    return False
