"""What a request wants done, and what a tool does, in four kinds: a tool of another kind is not what was asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from infospace.core.tool import Tool
from infospace.tools.search.tokenize import tokenize

Action: TypeAlias = Literal["read", "create", "change", "delete"]

_VERBS: Final[Mapping[Action, str]] = {
    "read": "show list get read display view see tell fetch find search look check describe dump retrieve inspect"
    " browse query count compare locate explain download return",
    "create": "create make add insert append register generate write save store record remember note draft build"
    " establish introduce initialize init",
    "change": "update edit change modify replace rename move set overwrite alter adjust convert transfer",
    "delete": "delete remove drop erase forget clear discard destroy wipe purge uninstall",
}
"""Verbs as stems. Those of more than one kind ("open", "print", "put", "start", "run") are of none."""
_KINDS: Final[Mapping[str, Action]] = {verb: action for action, verbs in _VERBS.items() for verb in verbs.split()}
_ASKS: Final = re.compile(r"(?:what|which|who|whose|when|where|how|is|are|was|were|does|did|has)")
"""Words by which a question begins."""
_LEADS: Final = re.compile(
    r"(?:please|to|can|could|would|you|i|we|me|let|us|lets|just|now|also|kindly|and|then|want|need)"
)
"""Words behind which a verb may stand that says what to do."""
_NEW: Final = re.compile(
    r"\b(?:need|want|like|have)\s+(?:(?:to\s+have|me)\s+)?an?\s+(?:new|fresh|extra|empty)\b", re.IGNORECASE
)
"""What is wanted that is not there yet is to be made."""
_WORD: Final = re.compile(r"[A-Za-z]+")


@dataclass(frozen=True, slots=True)
class RequestedAction:
    """What a request wants done, and the verb that says so; None where its verb is of no kind, or it has none."""

    action: Action | None
    verb: str = ""


def requested_action(request: str) -> RequestedAction:
    """Return what a request wants done.

    A verb counts where one that commands can stand: at the beginning, and behind words of asking politely.
    """
    if _NEW.search(request):
        return RequestedAction("create")
    for number, word in enumerate(word.lower() for word in _WORD.findall(request)):
        kind = _KINDS.get(word)
        if kind is not None:
            return RequestedAction(kind, word)
        if number == 0 and _ASKS.fullmatch(word):
            return RequestedAction("read")
        if not _LEADS.fullmatch(word):
            break
    return RequestedAction(None)


def action_of(tool: Tool) -> Action | None:
    """Return what a tool does: by a verb in its name, by how its description begins, by what its server says of it."""
    for word in tokenize(tool.name):
        if word in _KINDS:
            return _KINDS[word]
    for word in tokenize(tool.description)[:1]:
        if word in _KINDS:
            return _KINDS[word]
    return "read" if tool.annotated and tool.read_only else None


def conflict(wanted: Action | None, done: Action | None) -> bool:
    """Whether a tool does surely something else: what is made and what is changed are not told apart by verbs."""
    if wanted is None or done is None or wanted == done:
        return False
    return not {wanted, done} <= {"create", "change"}
