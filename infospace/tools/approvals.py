"""Whether somebody is asked before a tool is called, what is asked, and what was allowed.

A tool that may take something away is asked about, and so is one of a server that is not trusted and says nothing of
what its tools do. Not asked about is what was allowed: in the run that calls it, or in the space for as long as the
tool says the same of itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from infospace.core.errors import Invalid, InvalidJSON, NotFound
from infospace.core.json_types import JSON
from infospace.core.tool import NotAllowed, Tool
from infospace.data.json_text import dump, read_json
from infospace.data.paths import did_you_mean, nearest
from infospace.data.result import truncate
from infospace.journal.rows import Approve, Disapprove

if TYPE_CHECKING:
    from infospace.store.protocol import Store

Word: TypeAlias = Literal["once", "run", "always", "no"]

APPROVAL_CHOICES: Final[Mapping[Word, str]] = {
    "once": "this call",
    "run": "every call of this tool in this run",
    "always": "every call of this tool, until it says something else of itself",
    "no": "it is not called, and the step fails",
}
"""What may be answered, and what it allows."""

APPROVAL_SCHEMA: Final[Mapping[str, JSON]] = {
    "enum": list(APPROVAL_CHOICES),
    "description": "; ".join(f"{word}: {meaning}" for word, meaning in APPROVAL_CHOICES.items()),
}
"""The JSON Schema of an answer."""

ARGUMENTS_SEPARATOR = ", with "
"""What stands in a question before the arguments."""
TEXT = 200
"""Characters of one text that a question shows."""
ELEMENTS = 20
"""Elements of a list that a question shows."""
ARGUMENTS = 2_000
"""Characters of all arguments that a question shows."""


def must_ask(tool: Tool) -> bool:
    """Whether a tool is asked about that nobody has allowed yet."""
    if tool.auto_approved:
        return False
    if not tool.annotated:
        return not tool.trusted
    return tool.destructive and not tool.read_only


def refuse_blocked(tool: Tool) -> None:
    """Raise NotAllowed for a tool that is blocked."""
    if tool.blocked:
        message = f"{tool.full_name} is blocked, and was not called"
        raise NotAllowed(message, hint=f"the entry of the server {tool.server!r} in mcp.json blocks it")


def allowed(store: Store, tool: Tool, run: str | None, *, by_name: bool = True) -> bool:
    """Whether a tool may be called without asking: in the space, or in a run.

    What is allowed by its name alone, in `mcp.json` or for a run, is what was known under the name: without `by_name`,
    for a tool that says something else of itself by now, that does not count.
    """
    if not must_ask(tool if by_name else replace(tool, auto_approved=False)):
        return True
    names = (tool.full_name, f"{tool.server}/*")
    digests = (None, tool.digest) if by_name else (tool.digest,)
    with store.reading() as snapshot:
        given = snapshot.approvals(run)
    return any(approval.tool in names and approval.digest in digests for approval in given)


def question(tool: Tool, arguments: Mapping[str, Any]) -> str:
    """Return what is asked about a call: the tool, its server, and the arguments, long ones cut."""
    why = "may take something away" if tool.annotated else "does not say what it does"
    text = truncate(dump(_shown(dict(arguments))), ARGUMENTS)
    return f"call the tool {tool.name} of the server {tool.server}, which {why}{ARGUMENTS_SEPARATOR}{text}?"


def repeat_question(tool: Tool, arguments: Mapping[str, Any], earlier: str) -> str:
    """Return what is asked before a call that a step has made already: `4` of this run, or `4 of run_7` before it."""
    text = truncate(dump(_shown(dict(arguments))), ARGUMENTS)
    step = earlier if " of " in earlier else f"{earlier} of this run"
    why = f"step {step} called it so already"
    return f"call the tool {tool.name} of the server {tool.server} again, though {why}{ARGUMENTS_SEPARATOR}{text}?"


def parse_question(question: str) -> tuple[str, Mapping[str, JSON]] | None:
    """Return what `question` asked, and the arguments that it shows; None where they were cut, or cannot be told."""
    asks, _, text = question.partition(ARGUMENTS_SEPARATOR)
    try:
        arguments = read_json(text.removesuffix("?"), what="what is asked")
    except InvalidJSON:
        return None
    return (f"{asks}?", arguments) if isinstance(arguments, dict) else None


def _shown(value: Any) -> Any:
    match value:
        case str():
            return truncate(value, TEXT)
        case Mapping():
            return {key: _shown(inner) for key, inner in value.items()}
        case list() | tuple():
            shown = [_shown(inner) for inner in value[:ELEMENTS]]
            return shown if len(value) <= ELEMENTS else [*shown, f"… [cut: {len(value):,} elements in all]"]
    return value


def approvals_from_answer(word: JSON, run: str, tool: str, digest: bytes, at: str) -> list[Approve]:
    """Return what an answer allows beyond the call that was asked about, to be committed with it."""
    match word:
        case "run":
            return [Approve(tool, digest, at, run)]
        case "always":
            return [Approve(tool, digest, at)]
    return []


def parse_tool_names(approve: Iterable[str]) -> list[str]:
    """Return the tools that are allowed by name, each once: `server/tool`, or `server/*`. Raises Invalid."""
    results = list(dict.fromkeys(approve))
    for result in results:
        server, slash, name = result.partition("/")
        if not (server and slash and name) or "*" in server or ("*" in name and name != "*"):
            message = f"{result!r:.80} names no tool that could be approved"
            raise Invalid(message, hint="server/tool, or server/* for all tools of a server")
    return results


def approvals_for_run(approve: Iterable[str], run: str, at: str) -> list[Approve]:
    """Return what allows tools by name in a run. Raises Invalid."""
    return [Approve(name, None, at, run) for name in parse_tool_names(approve)]


def unknown_tool_names(approve: Iterable[str], tools: Iterable[Tool]) -> list[str]:
    """Say of each name among some that fits none of these tools which was probably meant; raises Invalid."""
    names = {name for tool in tools for name in (tool.full_name, f"{tool.server}/*")}
    results = []
    for one in parse_tool_names(approve):
        if one not in names:
            near = nearest(one, sorted(names))
            results.append(f"no tool here is called {one}" + (f"; did you mean {near}?" if near else ""))
    return results


def list_approvals(store: Store) -> list[Approve]:
    """Return what may always be called in a space, by tool."""
    with store.reading() as snapshot:
        return snapshot.approvals()


def revoke_approval(store: Store, tool: str) -> Sequence[str]:
    """Ask again about a tool that might always be called, or with `server/*` about all of a server; return which.

    Raises NotFound where there is none.
    """
    allowed = [approval.tool for approval in list_approvals(store)]
    server, _, name = tool.partition("/")
    going = [one for one in allowed if one == tool or (name == "*" and one.partition("/")[0] == server)]
    if not going:
        hint = did_you_mean(tool, allowed, f"there are {', '.join(allowed)}" if allowed else None)
        raise NotFound(f"{tool!r} is not among the tools that may always be called", hint=hint)
    store.commit([], [Disapprove(one) for one in going])
    return going
