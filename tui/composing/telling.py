"""What a dry run tells."""

from __future__ import annotations

import json
from collections.abc import Iterator

from infospace.answer import cut
from planner.dry_run import DryRun
from tui.wording import line

SIGNS = {"success": ("✓", "green"), "failed": ("✗", "red"), "skipped": ("·", "yellow"), "suspended": ("…", "yellow")}


def dry_lines(dry: DryRun) -> Iterator[tuple[str, str | None]]:
    """Return a line for each step, with what it would write or call below it, and how it would end."""
    for step in dry.document["steps"]:
        mark, style = SIGNS.get(step["status"], ("?", "red"))
        out = f" → {step['out']}" if step["out"] else ""
        says = step["reason"] if step["status"] in ("failed", "skipped") else step["value"]
        yield f"{mark} {step['step']} {step['type']}{out}  {line(cut(says or ''))}", style
        would = step.get("would")
        if would is not None:
            verb = "write" if would["effect"] == "writes" else "do this"
            asks = ", and would ask before" if would.get("asks") else ""
            yield f"    would {verb}{asks}: {cut(json.dumps(would['arguments'], ensure_ascii=False))}", "cyan"
    yield "", None
    result = dry.result
    yield f"{result.status}{f': {result.reason}' if result.reason else ''}", "bold"
    if result.result is not None:
        yield result.result.value, None
