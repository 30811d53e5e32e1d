"""A plan that a language model wrote, shown to a person who agrees to it or not."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tui.command.common.ctrl_c import read_line
from tui.text.output import Output, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infospace.core.json_types import JSON
    from planner.goals.effects import Effect
    from planner.goals.session import GoalSession


def agreed(session: GoalSession, out: Output, *, yes: bool, can_ask: bool = True) -> Sequence[str] | None:
    """Show the plan and ask for consent where it has effects; return the tools that were agreed to, None for no.

    `yes` agrees to a plan that nobody has seen: its tools are agreed to by name only where somebody saw them, so one
    that may take something away is still asked about. Raises UsageError where nobody can be asked.
    """
    from planner.goals.effects import needs_consent, tools_called

    effects = session.effects()
    if not out.json:
        show_plan(session.document, effects, out)
        if session.recalled is not None:
            source = session.recalled.source
            out.talk(f"It went well before, in {source.run}; --no-memory lets the model write it again.", "dim")
    if yes:
        return []
    if not needs_consent(effects):
        return []
    if not sys.stdin.isatty() or not can_ask:
        hint = "--yes agrees; `infospace plan` shows a plan and runs nothing"
        raise UsageError("the plan writes or calls, and nobody can be asked here", hint=hint)
    return tools_called(effects) if read_line("Run it? [y/N] ").strip().lower() in ("y", "yes") else None


def show_plan(document: JSON, effects: Sequence[Effect], out: Output) -> None:
    """Show a plan as sentences, and what it would do."""
    from infospace.schema.value_text import shown
    from tui.text.plan_sentences import plan_sentences

    for line in plan_sentences(document):
        out.text(line)
    declared = document.get("inputs") if isinstance(document, Mapping) else None
    for name, schema in declared.items() if isinstance(declared, Mapping) else ():
        if isinstance(schema, Mapping) and "default" in schema:
            out.talk(f"${name} is {shown(schema['default'])}, unless --input gives another value", "dim")
    for kind, verb in (("writes", "It writes"), ("calls", "It calls"), ("asks-model", "It asks the model for")):
        names = list(dict.fromkeys(effect.what for effect in effects if effect.kind == kind))
        if names:
            out.talk(f"{verb}: {', '.join(names)}", "yellow" if kind != "asks-model" else "dim")
