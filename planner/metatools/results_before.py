"""What a tool answered before, for one that does not say what it answers: its last call that went well."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from infospace.core.errors import NotFound
from infospace.core.json_types import JSON
from infospace.core.tool import Tool, ToolAnswer
from infospace.space import Space
from infospace.tools.answer_content import content_of
from infospace.tools.call_examples import calls_are_remembered
from infospace.tools.scope import EVERYTHING

LATEST: Final = 200
"""Remembered calls that are looked through."""


def answered_before(space: Space, tool: Tool) -> JSON:
    """Return the value of a tool's last answer that its space remembers; None where there is none.

    None too for a tool that says what it answers, for whoever may not know of everything, and where calls are not
    remembered.
    """
    if tool.output_schema is not None or tool.kind != "tool" or space.tools.scope != EVERYTHING:
        return None
    if not calls_are_remembered():
        return None
    with space.store.reading() as snapshot:
        result = next((call for call in snapshot.successful_calls(LATEST) if call.tool == tool.full_name), None)
        if result is None:
            return None
        try:
            calls = snapshot.calls(result.run)
        except NotFound:
            return None
    answers = [call.answer for call in calls if call.target == tool.full_name and call.status == "success"]
    stored: Any = answers[-1] if answers else None
    if not isinstance(stored, Mapping) or stored.get("is_error"):
        return None
    return content_of(tool, ToolAnswer(list(stored.get("blocks", ())), stored.get("structured")))[0]
