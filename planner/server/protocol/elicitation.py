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

from infospace.core.json_types import JSON
from infospace.data.paths import ABSENT, Absent
from infospace.tools.mcp.dialogue.step_conversation import DECLINE
from planner.server.approvals import OpenQuestion
from planner.server.operations import Operations
from planner.server.question_forms import Question

Context = ServerRequestContext[Any, Any]


def supports_elicitation(context: Context) -> bool:
    """Whether the client says that it shows its user a form."""
    can = context.session.client_capabilities
    asks = None if can is None else can.elicitation
    # One that names no mode has forms.
    return asks is not None and (asks.form is not None or asks.url is None)


def asks_in_answers(context: Context) -> bool:
    """Whether the protocol is one in which a question is an answer of the call."""
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS


async def ask(context: Context, operations: Operations, question: Question) -> JSON | Absent:
    """Ask now, and wait for the person; ABSENT where nobody answers, and then it is not asked again."""
    result = None
    # A client that says it asks, and then does not, leaves the question to others.
    with suppress(MCPError):
        result = await context.session.elicit_form(question.message, question.form, context.request_id)
    return _answer_from(operations, question, result)


def input_required(operations: Operations, put: OpenQuestion) -> types.InputRequiredResult:
    """Return what a call is answered with before its question is."""
    operations.asked.ask(put)
    question = put.question
    form = types.ElicitRequestFormParams(message=question.message, requested_schema=question.form)
    requests: dict[str, Any] = {question.key: types.ElicitRequest(params=form)}
    return types.InputRequiredResult(input_requests=requests, request_state=question.key)


def elicited_answer(params: types.CallToolRequestParams, question: Question, operations: Operations) -> JSON | Absent:
    """Return what the person said; ABSENT where nobody answered, and then it is not asked again."""
    result = (params.input_responses or {}).get(question.key)
    return _answer_from(operations, question, result if isinstance(result, types.ElicitResult) else None)


def _answer_from(operations: Operations, question: Question, result: types.ElicitResult | None) -> JSON | Absent:
    answer: JSON | Absent = ABSENT
    if result is not None and result.action == "accept":
        answer = question.answer(result.content or {})
    elif result is not None and result.action == "decline" and question.pending.kind == "approve":
        answer = "no"
    elif result is not None and result.action == "decline" and question.is_of_server:
        answer = DECLINE
    if answer is ABSENT:
        operations.asked.passed.add(question.key)
    return answer
