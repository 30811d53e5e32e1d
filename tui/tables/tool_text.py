"""What is told of a tool, of a server and of an answer, as text. What servers say of themselves is shown as theirs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from infospace.core.plural import pluralize
from infospace.tools.approvals import allowed, list_approvals, must_ask
from infospace.tools.builtin import SERVER
from infospace.tools.injection_signs import injection_signs
from infospace.tools.search.results import ToolHit
from planner.metatools.lookup import tool_use
from tui.tables.tool_rows import STATES
from tui.tables.tools_query import ServerStatus
from tui.text.format import Colours, format_duration, format_time, json_as_prose
from tui.text.output import escape_controls

if TYPE_CHECKING:
    from infospace.core.tool import Tool
    from infospace.journal.audit import AuditRow
    from infospace.space import Space
    from infospace.store.tool_records import ToolUse
    from infospace.tools.search.types import InputFit, OutputFit

_CUT = re.compile(r"\[cut: [0-9,]+ characters in all\]$")
"""What a text says at its end that was cut."""
_WRAPPED = re.compile(r"(?<=[^\s])\n(?=[^\s*#|-])")
"""The end of a line in the middle of a paragraph."""
AUDITED = 1_000
"""Entries of the audit that are looked through, the latest."""
AUDIT_SHOWN = 5
"""Entries of the audit that a tool shows."""
BLOCK = 400
"""Characters up to which a block that is no text is shown as it came."""


@dataclass(frozen=True, slots=True)
class ToolInfo:
    """A tool with what is known of it in a space: how its calls went, and whether somebody is asked before one."""

    tool: Tool
    signs: Sequence[str]
    use: ToolUse | None
    asked: str
    always: bool
    """Whether it may always be called because somebody answered so."""
    audit: Sequence[AuditRow] = ()
    """Who called it last through a door, and what was refused; latest first."""


def read_tool(space: Space, tool: Tool) -> ToolInfo:
    """Look up what is known of a tool; for a thread."""
    always = [
        approval for approval in list_approvals(space.store) if approval.tool in (tool.full_name, f"{tool.server}/*")
    ]
    held = allowed(space.store, tool, None)
    return ToolInfo(
        tool,
        injection_signs(tool),
        tool_use(space, tool),
        _format_approval(tool, held=held, always=bool(always)),
        bool(always),
        _last_audited(space, tool),
    )


def _last_audited(space: Space, tool: Tool) -> Sequence[AuditRow]:
    with space.store.reading() as snapshot:
        rows = snapshot.audit(AUDITED)
    return [row for row in rows if row.target in (tool.full_name, tool.id)][:AUDIT_SHOWN]


def audit_line(row: AuditRow) -> str:
    """Return who called, when, and what came of it."""
    why = "; ".join(part for part in (row.run, row.reason) if part)
    return f"{format_time(row.at)}  {row.caller}: {row.outcome}{f' ({why})' if why else ''}"


def _format_approval(tool: Tool, *, held: bool, always: bool) -> str:
    if tool.blocked:
        return "blocked: it is not called"
    if not must_ask(tool):
        if tool.auto_approved:
            return "nobody is asked: `autoApprove` in mcp.json"
        if not tool.annotated:
            return "nobody is asked: it does not say what it does, and its server is trusted"
        return "nobody is asked"
    if held:
        return "nobody is asked any more: it was answered that it may always be called (d: ask again)"
    changed = ", since it says something else now than when it was allowed" if always else ""
    return f"somebody is asked before each call{changed}"


def head_of(tool: Tool, colours: Colours) -> Text:
    """Return a tool in a line."""
    parts: list[Any] = [(tool.full_name if tool.kind != "server" else tool.server, "bold")]
    if tool.id:
        parts.append((f"  {tool.id}", "dim"))
    if tool.kind != "tool":
        parts.append((f"  {tool.kind}", colours.get("secondary", "")))
    if tool.kind == "server":
        parts.append(("  never listed", colours.get("warning", "")))
    elif not tool.connected:
        parts.append(("  not connected", colours.get("warning", "")))
    return Text.assemble(*((escape_controls(text), style) for text, style in parts), no_wrap=True, overflow="ellipsis")


def about_tool(info: ToolInfo, hit: ToolHit | None, colours: Colours, explained: Sequence[str] = ()) -> RenderableType:
    """Return all that is told of a tool; of a hit what its relevance is made of, which `explained` says in lines."""
    tool, text = info.tool, Text()
    for sign in info.signs:
        text.append(f"! Beware: its description {sign}.\n", colours.get("warning", "bold"))
    if tool.title:
        text.append(f"{escape_controls(tool.title)}\n", "bold")
    if tool.description:
        if tool.integration != "local":
            text.append(f"The server {tool.server} says, as text to be read and not obeyed:\n", "dim italic")
        own = tool.integration == "local"
        text.append(f"{escape_controls(_WRAPPED.sub(' ', tool.description) if own else tool.description)}\n")
    examples = [("example", json_as_prose(dict(example))) for example in tool.examples]
    return Group(text, _table([*_facts(info, hit, explained), *examples]))


def _table(facts: Iterable[tuple[str, str]]) -> Table:
    table = Table.grid(padding=(0, 1))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for label, message in facts:
        table.add_row(label, Text(escape_controls(message)))
    return table


def _doubt(fit: InputFit | OutputFit) -> str:
    return "" if fit.score == 1 else f" ({fit.score:.0%}: {fit.reason})"


def _facts(info: ToolInfo, hit: ToolHit | None, explained: Sequence[str]) -> Iterator[tuple[str, str]]:
    tool = info.tool
    if hit is not None:
        moved = "".join(f"; {adjustment.by:+.3f} in the order: {adjustment.reason}" for adjustment in hit.adjustments)
        by = f" by {' and '.join(hit.matched_by)}" if hit.matched_by else ""
        yield "found", f"{hit.confidence:.0%} sure; relevance {hit.score:.3f}{by}{moved}"
        for line in explained:
            yield "why", line
        if hit.types is not None and hit.types.input is not None:
            besides = f", and needs {', '.join(needs)} besides" if (needs := hit.types.input.needs) else ""
            yield "takes", f"it as {', '.join(hit.types.input.arguments)}{besides}{_doubt(hit.types.input)}"
        if hit.types is not None and hit.types.output is not None:
            place = hit.types.output.place
            yield "gives", f"it{f' at {place}' if place else ''}{_doubt(hit.types.output)}"
    if tool.kind == "server":
        yield "does", "what it can do is not known yet: c lists it"
        yield "lists", tool.needs
    else:
        yield "does", effects(tool)
        yield "asked", info.asked
    if tool.kind == "tool":
        yield "calls", calls_of(info.use)
    for row in info.audit:
        yield "audit", audit_line(row)
    server = tool.server if tool.server != SERVER else f"{SERVER}, the space itself"
    title = f" ({tool.server_title})" if tool.server_title and tool.server != SERVER else ""
    yield "server", f"{server}{title}{', trusted' if tool.trusted and tool.integration != 'local' else ''}"
    if tool.category:
        yield "category", tool.category
    if tool.tags:
        yield "tags", ", ".join(tool.tags)
    if tool.visibility != "public" or tool.team:
        yield "seen by", f"{tool.visibility}{f', the team {tool.team}' if tool.team else ''}"
    if tool.created:
        yield "known", f"since {format_time(tool.created)}"


def effects(tool: Tool) -> str:
    """Say what a tool does to the world, as far as it says so."""
    if not tool.annotated:
        return "it says nothing of what it changes"
    if tool.read_only:
        return "only reads"
    taking = "may take something away" if tool.destructive else "changes something, and takes nothing away"
    return f"{taking}; twice is as once" if tool.idempotent else taking


def calls_of(use: ToolUse | None) -> str:
    """Say how calls went."""
    if use is None:
        return "none yet"
    return (
        f"{pluralize(use.execution_count, 'call')}, {use.success_rate:.0%} well; "
        f"mean {format_duration(use.mean_ms)}, 95 of 100 within {format_duration(use.p95_ms)}"
    )


def schemas_of(tool: Tool) -> str:
    """Return what a tool takes and gives, as JSON Schemas."""
    takes = json.dumps(dict(tool.input_schema), ensure_ascii=False, indent=2)
    if tool.output_schema is None:
        return f"takes\n{takes}\n\nIt does not say what it gives."
    return f"takes\n{takes}\n\ngives\n{json.dumps(dict(tool.output_schema), ensure_ascii=False, indent=2)}"


def about_server(one: ServerStatus, colours: Colours) -> RenderableType:
    """Return all that is told of a server; of its entry neither `env` nor `headers`."""
    text = Text()
    mark, colour = STATES[one.state]
    text.append(f"{mark} {one.state}", colours.get(colour, ""))
    text.append(" (listed, and its process goes on here)\n" if one.state == "running" else "\n", "dim")
    if one.reason:
        text.append(f"{escape_controls(one.reason)}\n", colours.get("error", "bold"))
    if one.hint:
        text.append(f"{escape_controls(one.hint)}\n", "dim")
    parts: list[RenderableType] = [text, _table(_server_facts(one))]
    server = one.server
    if server is not None and server.kept is not None and server.kept.instructions:
        parts.append(Text("\nThe server says, as text to be read and not obeyed:", "dim italic"))
        parts.append(Text(escape_controls(server.kept.instructions)))
    return Group(*parts)


def _server_facts(one: ServerStatus) -> Iterator[tuple[str, str]]:
    server = one.server
    if server is None:
        yield "file", one.file
        return
    entry, stored = server.entry, server.kept
    if server.title:
        yield "title", f"{server.title}{f' {stored.version}' if stored is not None and stored.version else ''}"
    if entry.description:
        yield "for", entry.description
    yield (
        "runs" if entry.command is not None else "reads" if entry.rest else "asks",
        " ".join(entry.shown_command or [str(entry.shown_url)]),
    )
    counts = ((server.tools, "tool"), (server.prompts, "prompt"), (server.resources, "resource"))
    yield "lists", ", ".join(pluralize(number, noun) for number, noun in counts if number or noun == "tool")
    yield "calls", calls_of(one.use)
    if stored is not None and stored.listed:
        holds = f", holds until {format_time(stored.expires)}" if stored.expires else ""
        yield "listed", f"{format_time(stored.listed)}{holds}"
    if stored is not None and stored.tried and stored.tried != stored.listed:
        yield "tried", format_time(stored.tried)
    marks = [word for word, held in (("trusted", entry.trusted), ("blocked", entry.blocked)) if held]
    yield "is", ", ".join(marks) or "not trusted: before a tool that does not say what it changes, you are asked"
    if entry.category:
        yield "category", entry.category
    if entry.tags:
        yield "tags", ", ".join(entry.tags)
    yield "file", one.file


def reply_text(answer: Mapping[str, Any]) -> str:
    """Return what a call answered: its blocks in their order, then the structured content."""
    parts = [_block(block) for block in answer.get("content", ())]
    structured = answer.get("structured_content")
    if structured is not None:
        whole = json.dumps(structured, ensure_ascii=False, indent=2)
        parts.append(whole if not parts else f"structured content:\n{whole}")
    large = answer.get("large")
    if large and not any(_CUT.search(part) for part in parts):
        parts.append("… this is the beginning")
    return "\n\n".join(parts)


def _block(block: Mapping[str, Any]) -> str:
    if block.get("type") == "text":
        return str(block.get("text", ""))
    whole = json.dumps(dict(block), ensure_ascii=False, indent=2)
    if len(whole) <= BLOCK:
        return whole
    kind = " ".join(str(block[key]) for key in ("type", "mimeType") if key in block)
    return f"[{kind}: {len(whole):,} characters]"
