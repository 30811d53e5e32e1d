"""Asking the person behind a client by the protocol: the earlier one asks back, the later one has the call made again.

In the later protocol a call is answered with what is to be asked; the client asks, and makes the call again with what
was said and the `request_state`, which names the question.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import mcp_types as types
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from infospace.errors import Conflict
from infospace.tools.approvals import WORDS
from planner.serve.door import Door
from planner.serve.people import SCHEMA, Question

Context = ServerRequestContext[Any, Any]


def can_be_asked(context: Context) -> bool:
    """Whether the client says that it shows its user a form."""
    can = context.session.client_capabilities
    asks = None if can is None else can.elicitation
    # One that names no mode has forms.
    return asks is not None and (asks.form is not None or asks.url is None)


def asks_in_answers(context: Context) -> bool:
    """Whether the protocol is one in which a question is an answer of the call."""
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS


async def ask(context: Context, door: Door, question: Question) -> str | None:
    """Ask now, and wait for the person; None where nobody answers, and then it is not asked again."""
    found = None
    # A client that says it asks, and then does not, leaves the question to others.
    with suppress(MCPError):
        found = await context.session.elicit_form(question.says, dict(SCHEMA), context.request_id)
    return _word(door, question, found)


def to_be_asked(door: Door, question: Question, answer: Any, times: int) -> types.InputRequiredResult:
    """Return what a call is answered with before its question is."""
    door.asked.ask(question, answer, times)
    form = types.ElicitRequestFormParams(message=question.says, requested_schema=dict(SCHEMA))
    requests: dict[str, Any] = {question.key: types.ElicitRequest(params=form)}
    return types.InputRequiredResult(input_requests=requests, request_state=question.key)


def asked_before(door: Door, state: str) -> tuple[Question, dict[str, Any], int]:
    """Return the open question that a call comes back with, and what it would have answered. Raises Conflict."""
    found = door.asked.take(state)
    if found is None:
        raise Conflict(f"nothing is asked here under {state!r:.60}", hint="get_run says how a run stands")
    return found


def said(params: types.CallToolRequestParams, question: Question, door: Door) -> str | None:
    """Return what the person said; None where nobody answered, and then it is not asked again."""
    found = (params.input_responses or {}).get(question.key)
    return _word(door, question, found if isinstance(found, types.ElicitResult) else None)


def _word(door: Door, question: Question, found: types.ElicitResult | None) -> str | None:
    word = None if found is None or found.action == "cancel" else "no"
    if found is not None and found.action == "accept":
        given = (found.content or {}).get("answer")
        word = given if isinstance(given, str) and given in WORDS else None
    if word is None:
        door.asked.passed.add(question.key)
    return word
