"""`find`: what a plan can use, or all of a kind, a line each; by name in full; asked for nothing, the language."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from infospace.contract.tool_signature import briefly, untitled
from infospace.core.errors import InfospaceError, Invalid, NotFound
from infospace.core.plural import pluralize
from infospace.core.tool import ALL, Tool
from infospace.data.json_text import dump
from infospace.data.result import truncate
from infospace.schema.outline import json_in
from infospace.space import Space
from infospace.tools.builtin import SERVER
from infospace.tools.injection_signs import injection_signs
from infospace.tools.search.results import ToolQuery
from planner.metatools.lookup import find_tool, known_tools
from planner.metatools.results_before import answered_before
from planner.metatools.search_tools import find_among
from planner.metatools.signature_line import result_outline, signature_line
from planner.parse.control_flow import FORMS
from planner.parse.page import language_page, short_page
from planner.parse.saved_plans import load_plan
from planner.parse.steps import SAVED
from planner.parse.vocabulary import conditions_in_full, contract_in_short, contract_line, form_line
from planner.server.core.arguments import MOST_FOUND, Find
from planner.server.core.preview import cut
from planner.server.core.wording import plain
from planner.server.live_runs import Tell
from planner.server.lookups import CONDITIONS, discover_notes
from planner.server.operations import Operations

DESCRIPTION: Final = 110
"""Characters of a tool's description that stand in its line."""
OTHERS: Final = 60
"""Characters of it in the lines after the first one."""
WHOLE: Final = 1_500
"""Characters of it where the tool is asked for by name."""
LANGUAGE: Final = "language"
"""The name under which the whole page of the language is told."""
LONG_OUTLINE: Final = 40
"""Characters of what a tool answers that are not written twice."""
BETWEEN: Final = ";"
"""What stands between several queries."""
PASSAGE: Final = 160
"""Characters of what was found in a note."""
BEGINS: Final = 180
"""Characters of the beginning of a text that a tool answered before."""
SENTENCE: Final = re.compile(r"(?<=[.!?])\s")


async def find(operations: Operations, args: Find, tell: Tell) -> str:
    """Return lines. Raises NotFound where nothing that was asked for by name is there."""
    del tell
    if args.names:
        return await asyncio.to_thread(_by_name, operations, args.names)
    if args.query is None and args.kind is not None:
        return await asyncio.to_thread(_by_kind, operations, args)
    if args.query is None:
        # Whoever reads the language searches next: the model is loaded while it is read, and no search waits for it.
        asyncio.get_running_loop().run_in_executor(None, _prepare, operations.space)
        return await asyncio.to_thread(short_page, operations.space.catalogue)
    if not args.query.replace(BETWEEN, " ").strip():
        raise Invalid("`query` is blank", hint="what it should do, in plain words; without `query`, the language")
    if args.kind == "note":
        return await _notes(operations, args.query, args.limit)
    return await asyncio.to_thread(_by_query, operations, args)


def _prepare(space: Space) -> None:
    """Load the embedding model, and index what can be found; what is missing the search that needs it says."""
    with suppress(InfospaceError):
        find_among(space, known_tools(space, servers=True), ToolQuery("tools", 1, mode="keyword"))
        space.embedding.query("tools")


def _by_query(operations: Operations, args: Find) -> str:
    """Return the lines of each query; what several queries find stands there once."""
    lines: dict[str, str] = {}
    outlines: dict[str, str] = {}
    for query in filter(None, map(str.strip, str(args.query).split(BETWEEN))):
        for line in _lines(operations, args, query, outlines):
            lines.setdefault(line.partition("(")[0], line)
    return "\n".join(lines.values())


def _lines(operations: Operations, args: Find, query: str, outlines: dict[str, str]) -> list[str]:
    """Return a line for each thing that fits a query. `outlines` has the answers of tools shown before, by outline."""
    space = operations.space
    lines: list[str] = []
    none: list[str] = []
    nearest: list[str] = []
    planned = False
    several = f" {query!r:.60}" if BETWEEN in str(args.query) else ""
    for kind, (tools, line) in _kinds(operations, outlines).items():
        if args.kind not in (None, kind):
            continue
        limit = min(args.limit, operations.access.results)
        results = find_among(space, tools, ToolQuery(query, limit)) if tools else None
        if results is None or results.no_match:
            if kind in ("tool", args.kind):
                none.append(f"no {kind} fits{several}")
                nearest += [line(results.guess.tool)] if results is not None and results.guess is not None else []
            continue
        planned = planned or kind == "plan"
        lines += [line(hit.tool) if hit is results.hits[0] else line(hit.tool, OTHERS) for hit in results.hits]
        if results.degraded:
            lines.append(f"({plain(results.degraded)})")
    if nearest and not planned:
        # Where a saved plan fits, the nearest of the tools that do not is no help.
        none = [f"{none[0]}; the nearest:", *nearest]
    return [*lines, *none]


def _kinds(operations: Operations, outlines: dict[str, str]) -> dict[str, tuple[list[Tool], Callable[..., str]]]:
    """Return what there is of each kind, with what writes one in a line."""
    every = known_tools(operations.space, servers=True)
    tool_line = _LineOfTool(operations, outlines)
    return {
        "tool": ([tool for tool in every if tool.server != SERVER], tool_line),
        "plan": ([tool for tool in every if _is_plan(tool)], tool_line),
        "verb": ([tool for tool in every if tool.server == SERVER and not _is_plan(tool)], _verb_line(operations)),
    }


def _by_kind(operations: Operations, args: Find) -> str:
    """Return a line for each thing of a kind, by their names, as many as may be shown. Raises Invalid for notes."""
    if args.kind == "note":
        raise Invalid("notes are found by a `query`", hint="what they are about, in plain words")
    tools, line = _kinds(operations, {})[str(args.kind)]
    if not tools:
        return f"there is no {args.kind} here"
    limit = min(args.limit if "limit" in args.model_fields_set else MOST_FOUND, operations.access.results)
    shown = sorted(tools, key=lambda tool: tool.full_name)[:limit]
    left_out = [f"{len(shown)} of {len(tools):,}; a `query` finds the others"] if len(shown) < len(tools) else []
    return "\n".join([*(line(tool, OTHERS) for tool in shown), *left_out])


def _is_plan(tool: Tool) -> bool:
    return tool.server == SERVER and tool.name.startswith(SAVED)


def _verb_line(operations: Operations) -> Callable[..., str]:
    catalogue = operations.space.catalogue

    def line(tool: Tool, _most: int = 0) -> str:
        entry = catalogue.find(tool.name)
        return tool.name if entry is None else contract_line(entry)

    return line


def _tool_line(operations: Operations, tool: Tool) -> str:
    return _LineOfTool(operations, {})(tool)


@dataclass
class _LineOfTool:
    """Writes a tool in a line: how it is called, what it answers and is for, and what stands in the way.

    What a tool shown before answers, too, is told by the name of that one.
    """

    operations: Operations
    outlines: dict[str, str]

    def __call__(self, tool: Tool, most: int = DESCRIPTION) -> str:
        if tool.kind == "server":
            text = cut(tool.description, DESCRIPTION)
            return f"{tool.full_name}: {text} [{plain(tool.needs)}]"
        first = SENTENCE.split(" ".join(tool.description.split()), maxsplit=1)[0]
        text = cut(first, most).rstrip(".")
        verb = {"prompt": " [get-prompt]", "resource": " [read-resource]"}.get(tool.kind, "")
        whole = most == DESCRIPTION
        return f"{self._call(tool, whole)}{verb}{f'. {text}' if text else ''}{_warnings(self.operations, tool)}"

    def _call(self, tool: Tool, whole: bool) -> str:
        answered = answered_before(self.operations.space, tool)
        line, outline = signature_line(tool, answered), result_outline(tool, answered)
        if whole and isinstance(answered, str) and json_in(answered) is None:
            return f"{line} that began {dump(cut(answered, BEGINS))}"
        if len(outline) < LONG_OUTLINE:
            return line
        other = self.outlines.setdefault(outline, tool.full_name)
        return line if other == tool.full_name else f"{line.removesuffix(outline)}as {other}"


def _warnings(operations: Operations, tool: Tool) -> str:
    messages = []
    if tool.needs:
        messages.append(f"needs: {plain(tool.needs)}")
    elif not tool.connected:
        reason = operations.space.tools.unavailable_reason(tool.full_name) or "a call tries again"
        messages.append(f"its server is down: {truncate(plain(reason), DESCRIPTION)}")
    messages += [f"beware: its description {', '.join(signs)}"] if (signs := injection_signs(tool)) else []
    return f" [{'; '.join(messages)}]" if messages else ""


# By name


def _by_name(operations: Operations, names: Sequence[str]) -> str:
    messages: list[str] = []
    missing: list[NotFound] = []
    for name in dict.fromkeys(names):
        try:
            messages.append(_described(operations, name))
        except NotFound as error:
            missing.append(error)
            messages.append(plain(str(error)))
    if len(missing) == len(messages):
        raise NotFound("; ".join(plain(str(error)) for error in missing))
    return "\n\n".join(messages)


def _described(operations: Operations, name: str) -> str:
    """Return something in full: a form, a verb, the conditions, the language, a saved plan, a tool."""
    catalogue = operations.space.catalogue
    if name.lower() == LANGUAGE:
        return language_page(catalogue)
    if name in FORMS:
        return form_line(name)
    if name.lower() == CONDITIONS:
        return conditions_in_full()
    if name.startswith(SAVED):
        return _plan(operations, name)
    if "/" in name or name.startswith("tool_"):
        return _tool(operations, find_tool(operations.space, name))
    return contract_in_short(catalogue.get(name))


def _plan(operations: Operations, name: str) -> str:
    document: Any = load_plan(operations.space, name.removeprefix(SAVED))
    shown = {key: document[key] for key in ("goal", "inputs", "result") if key in document}
    steps = document.get("steps", ()) if isinstance(document, Mapping) else ()
    types = [str(step.get("type")) for step in steps if isinstance(step, Mapping)]
    return f"{name} {dump(shown)}\nsteps: {', '.join(types)}"


def _tool(operations: Operations, tool: Tool) -> str:
    if tool.name == ALL or tool.kind == "server":
        return _tool_line(operations, tool)
    lines = [f"{signature_line(tool, answered_before(operations.space, tool))}{_warnings(operations, tool)}"]
    if tool.description:
        lines.append(f"Its server says: {truncate(tool.description, WHOLE)}")
    lines.append(f"takes {dump(_schema(tool.input_schema))}")
    if tool.output_schema is not None:
        lines.append(f"answers {dump(_schema(tool.output_schema))}")
    return "\n".join(lines)


def _schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    return briefly({key: value for key, value in untitled(schema).items() if key != "$schema"})


# Notes


async def _notes(operations: Operations, query: str, limit: int) -> str:
    try:
        value: Any = await discover_notes(operations, {"query": query, "limit": limit})
    except NotFound as error:
        raise InfospaceError(plain(error.message)) from error
    certificate = value["extra"]["certificate"]
    lines = [_note_line(hit) for hit in value["data"]]
    matched, notes = certificate["matched"], certificate["notes"]
    of = f" of {matched:,} that fit" if matched is not None else ""
    return "\n".join([*lines, f"{len(lines)}{of}, among {pluralize(notes, 'note')}"])


def _note_line(hit: Mapping[str, Any]) -> str:
    about = hit["metadata"]
    passage = (about.get("passage") or {}).get("text") or hit.get("text") or ""
    text = truncate(" ".join(str(passage).split()), PASSAGE)
    return f"{about['source_id']} {_quoted([about.get('title')])}({about['score']:.2f}) {text}"


def _quoted(titles: Iterable[Any]) -> str:
    return "".join(f'"{title}" ' for title in titles if title)
