"""What fixes and dry runs tell, in words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from infospace.core.plural import pluralize
from infospace.data.json_source_map import parts_of
from infospace.data.result import truncate
from planner.language.problems import Patch
from tui.text.format import MARKS, json_as_prose, single_line

if TYPE_CHECKING:
    from planner.lifecycle.dry_run import DryRun


def format_fix(fix: Patch) -> str:
    """Say what a fix does: `make it "size"`, `call "traget" "target"`."""
    return "; ".join(_format_operation(operation) for operation in fix)


def _format_operation(operation: Mapping[str, Any]) -> str:
    last = json.dumps((parts_of(operation["path"]) or ["the plan"])[-1], ensure_ascii=False)
    value = truncate(json.dumps(operation.get("value"), ensure_ascii=False), 80)
    match operation["op"]:
        case "replace":
            return f"make it {value}"
        case "add":
            return f"add {last}: {value}" if not last.strip('"').isdigit() else f"put in {value}"
        case "remove":
            return f"take {last} away"
    before = json.dumps(parts_of(operation["from"])[-1], ensure_ascii=False)
    around = operation["from"].rpartition("/")[0] == operation["path"].rpartition("/")[0]
    return f"call {before} {last}" if around and not last.strip('"').isdigit() else f"move {before}"


def dry_verb(would: Mapping[str, Any]) -> str:
    """Say in a word or a few what a step would do with its arguments."""
    if "at_most" in would:
        return f"call {would['tool']}, at most {pluralize(would['at_most'], 'time')}"
    return "write" if would["effect"] == "writes" else "do this"


def dry_lines(dry: DryRun) -> Iterator[tuple[str, str | None]]:
    """Return a line for each step, with what it would write or call below it, and how it would end."""
    for step in dry.document["steps"]:
        mark, style = MARKS.get(step["status"], ("?", "red"))
        out = f" → {step['out']}" if step["out"] else ""
        message = step["reason"] if step["status"] in ("failed", "skipped") else step["value"]
        yield f"{mark} {step['step']} {step['type']}{out}  {single_line(truncate(message or ''))}", style
        would = step.get("would")
        if would is not None:
            asks = ", and would ask before" if would.get("asks") else ""
            yield f"    would {dry_verb(would)}{asks}: {truncate(json_as_prose(would['arguments']))}", "cyan"
    yield "", None
    result = dry.result
    yield f"{result.status}{f': {result.reason}' if result.reason else ''}", "bold"
    if result.result is not None:
        yield result.result.value, None
