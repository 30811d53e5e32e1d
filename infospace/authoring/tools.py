"""Tools of servers: finding them, calling them, and what they answer."""

from __future__ import annotations

from infospace.core.tool import Tool
from infospace.tools import prompts_and_resources
from infospace.tools.answer_content import result_schema
from infospace.tools.builtin import searched, step_type
from infospace.tools.call import call_tool, find_by_tool
from infospace.tools.injection_signs import injection_signs
from infospace.tools.result_mapping import ForeignResult, ResultMapping
from infospace.tools.scope import Filters
from infospace.tools.search.lexical.suggestions import unmatched
from infospace.tools.search.results import ToolHit, ToolQuery, ToolResults
from infospace.tools.search.types import TypeQuery

__all__ = [
    "Filters",
    "ForeignResult",
    "ResultMapping",
    "Tool",
    "ToolHit",
    "ToolQuery",
    "ToolResults",
    "TypeQuery",
    "call_tool",
    "find_by_tool",
    "injection_signs",
    "prompts_and_resources",
    "result_schema",
    "searched",
    "step_type",
    "unmatched",
]
