"""How a model wrote a plan, and what the plan would do, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text

from infospace.core.plural import pluralize
from tui.text.format import Colours, single_line

if TYPE_CHECKING:
    from infospace.journal.rows import CallRow
    from planner.goals.effects import Effect

MAX_GOAL = 20_000
"""Characters of a goal."""
VERBS = {
    "writes": "It writes",
    "calls": "It calls",
    "asks-model": "It asks the model for",
    "asks-person": "It asks you",
}


def attempts_of(extra: Mapping[str, Any]) -> str:
    """Say of a step that a model wrote: `made, 2 attempts, 1,234 tokens`; empty where none did."""
    asked, attempts = extra.get("llm"), extra.get("attempts")
    if not isinstance(asked, Mapping):
        return ""
    texts = [str(asked.get("model"))]
    texts += [pluralize(len(attempts), "attempt")] if isinstance(attempts, Sequence) else []
    texts += [pluralize(int(asked.get("tokens", 0)), "token")]
    return ", ".join(texts)


def effect_lines(effects: Sequence[Effect]) -> Iterator[str]:
    """Say what a plan would write, call and ask, each thing once."""
    for kind, verb in VERBS.items():
        names = list(dict.fromkeys(effect.what for effect in effects if effect.kind == kind))
        if names:
            yield verb if kind == "asks-person" else f"{verb} {', '.join(names)}"


def render_attempts(extra: Mapping[str, Any], calls: Sequence[CallRow], colours: Colours) -> Text:
    """Return what a model wrote, attempt by attempt, with errors and tokens; nothing for a step of another type."""
    text, attempts = Text(), extra.get("attempts")
    if not isinstance(attempts, Sequence) or isinstance(attempts, str):
        return text
    asked = [call for call in calls if call.kind == "llm"]
    text.append("\n").append("what the model wrote", "underline").append(f"\n{attempts_of(extra)}\n")
    for number, attempt in enumerate(attempts):
        errors, fixes = attempt.get("errors", ()), attempt.get("fixes", 0)
        tokens = f", {pluralize(asked[number].tokens, 'token')}" if len(asked) == len(attempts) else ""
        fixed = f" after {pluralize(fixes, 'fix').replace('fixs', 'fixes')}" if fixes else ""
        state = pluralize(len(errors), "error") if errors else f"may run{fixed}"
        colour = colours.get("error" if errors else "success", "")
        text.append(f"attempt {number + 1}: ", "bold").append(state, colour).append(f"{tokens}\n", "dim")
        for error in errors:
            text.append(f"  {single_line(str(error))}\n", "dim")
    return text
