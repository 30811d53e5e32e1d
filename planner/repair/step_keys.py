"""What a step's own keys are called in other systems: its type, arguments, variable, order, comments."""

from __future__ import annotations

import re
from typing import Final

from planner.language.references import NAME

TYPE: Final = (
    "tool",
    "tool_name",
    "toolName",
    "function",
    "function_name",
    "action",
    "name",
    "op",
    "operation",
    "primitive",
    "method",
    "command",
    "verb",
    "call",
    "kind",
    "uses",
    "step",
    "use",
    "api",
    "api_name",
    "operator",
    "component",
    "task",
)
"""Keys that hold what is to be done, surest first."""

CALLS: Final = frozenset(
    [
        "tool",
        "function",
        "tool_use",
        "tool_call",
        "toolcall",
        "function_call",
        "functioncall",
        "call",
        "action",
        "task",
        "step",
        "node",
        "mcp",
        "mcp_tool",
        "mcp_tool_use",
        "api",
        "api_call",
        "invoke",
        "use_tool",
        "call_function",
        "execute_tool",
        "run_tool",
        "call_mcp_tool",
        "use_mcp_tool",
        "primitive",
        "operation",
        "tool_invocation",
        "server_tool_use",
        "custom",
        "component",
        "service",
    ]
)
"""Types elsewhere that only say that something is called; another key says what."""

HOLDERS: Final = (
    "function",
    "function_call",
    "tool_call",
    "call",
    "tool_use",
    "tool",
    "action",
    "functionCall",
    "params",
)
"""Keys that hold a whole call: its name and its arguments."""

ARGUMENTS: Final = (
    "arguments",
    "args",
    "argument",
    "parameters",
    "params",
    "kwargs",
    "input",
    "inputs",
    "tool_input",
    "tool_args",
    "tool_arguments",
    "function_args",
    "action_input",
    "payload",
    "with",
    "config",
    "fields",
    "options",
    "data",
    "body",
)
"""What `arguments` are called, surest first."""

OUT: Final = (
    "output",
    "as",
    "save_as",
    "saveAs",
    "result",
    "store_as",
    "output_variable",
    "output_var",
    "output_key",
    "output_name",
    "outputs",
    "assign",
    "assign_to",
    "assigned_to",
    "store",
    "store_in",
    "save_to",
    "save_result_as",
    "result_as",
    "result_variable",
    "result_name",
    "return_as",
    "returns",
    "return",
    "into",
    "var",
    "variable",
    "bind",
    "bind_to",
    "register",
    "to_variable",
    "target_variable",
    "set",
    "let",
)
"""What `out` is called."""

COMMENTS: Final = (
    "description",
    "comment",
    "comments",
    "thought",
    "thoughts",
    "reason",
    "reasoning",
    "rationale",
    "explanation",
    "purpose",
    "why",
    "note",
    "notes",
    "summary",
    "title",
    "expected",
    "expected_output",
    "expectation",
    "intent",
    "goal",
    "_comment",
    "//",
    "doc",
    "docstring",
    "label",
    "display_name",
    "objective",
    "instruction",
)
"""Keys that say why there is a step, or what is expected of it."""

ORDER: Final = (
    "depends_on",
    "dependsOn",
    "dependencies",
    "depends",
    "dependency",
    "after",
    "needs",
    "requires",
    "prerequisites",
    "upstream",
    "run_after",
    "predecessors",
    "parents",
    "wait_for",
)
"""Keys that name the steps which come before."""

LABELS: Final = (
    "step_id",
    "call_id",
    "tool_call_id",
    "tool_use_id",
    "stepId",
    "node_id",
    "task_id",
    "step_name",
    "node",
    "key",
    "ref",
    "uid",
    "slug",
    "step",
    "number",
    "index",
    "order",
)
"""Keys that tell steps apart."""

ON_FAIL: Final = (
    "on_error",
    "onError",
    "on_failure",
    "onFailure",
    "if_fails",
    "error_handling",
    "catch",
    "fallback",
    "rescue",
    "on_exception",
)
"""What `on_fail` is called."""

SINGLE: Final = {
    "if": "condition",
    "while": "condition",
    "for-each": "target",
    "map": "target",
    "parallel": "branches",
    "say": "value",
    "think": "value",
    "ask": "value",
    "load": "target",
    "query": "sql",
    "compute": "expression",
    "discover-notes": "query",
    "size": "target",
}
"""Steps that are written with their type for a key, and the field that its value is."""


def variable_in(value: object) -> str | None:
    """Return the `$name` that is written for a variable: as such, without its sign, in braces, alone in a list."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, str):
        return None
    match = re.fullmatch(r"\$\{(\w+)\}|\{\{\s*\$?(\w+)\s*\}\}|\$?(\w+)", value.strip())
    name = next((part for part in match.groups() if part), "") if match else ""
    return f"${name}" if NAME.fullmatch(name) else None
