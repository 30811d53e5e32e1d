"""Wrong plans as other systems would have them written: their words, and the plan that each was meant to be."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from desk import (
    ARTICLES,
    ASSIGN,
    BRANCH,
    BUSIEST,
    COSTS,
    COUNT,
    CUSTOMER,
    EACH,
    FIRST,
    LINES,
    LONG,
    MAIL,
    MAILS,
    MEANT,
    NAMES,
    ORDERS,
    OVER,
    REFUND,
    ROOM,
    ROWS,
    SUMS,
    TASKS,
    TICKET,
    TOP,
    WEATHER,
    report,
)

Step: TypeAlias = "dict[str, Any]"
Case: TypeAlias = "tuple[str, str, Any]"
"""The system, the name of the plan that was meant, the plan as it is written there."""
Write: TypeAlias = "Callable[[Step, int], Step]"
SPOKEN = report("It is ${weather.temperature} degrees: ${weather.summary}")
MANY = report("${n} long tasks")
TOLD = report("${text}")


def _parts(step: Step) -> tuple[str, Step, str]:
    return step["type"], step["arguments"], str(step["out"])[1:]


# How a call is written in one system


def openai_tool_call(step: Step, at: int) -> Step:
    tool, given, out = _parts(step)
    return {
        "id": f"call_{at}",
        "type": "function",
        "function": {"name": tool, "arguments": json.dumps(given)},
        "out": f"${out}",
    }


def openai_function_call(step: Step, _at: int) -> Step:
    tool, given, out = _parts(step)
    return {"function_call": {"name": tool.replace("/", "."), "arguments": given}, "output": out}


def openai_responses(step: Step, at: int) -> Step:
    tool, given, out = _parts(step)
    return {
        "type": "function_call",
        "call_id": f"call_{at}",
        "name": tool,
        "arguments": json.dumps(given),
        "out": f"${out}",
    }


def anthropic_tool_use(step: Step, at: int) -> Step:
    tool, given, out = _parts(step)
    return {"type": "tool_use", "id": f"toolu_{at}", "name": tool.replace("/", "__"), "input": given, "out": f"${out}"}


def anthropic_named(step: Step, _at: int) -> Step:
    tool, given, out = _parts(step)
    return {"type": "tool_use", "name": tool, "input": given, "save_as": out}


def mcp_request(step: Step, at: int) -> Step:
    tool, given, out = _parts(step)
    return {
        "jsonrpc": "2.0",
        "id": at,
        "method": "tools/call",
        "params": {"name": tool, "arguments": given},
        "out": f"${out}",
    }


def mcp_server_and_tool(step: Step, _at: int) -> Step:
    server, _, tool = step["type"].partition("/")
    return {"type": "mcp_tool", "server": server, "tool": tool, "arguments": step["arguments"], "out": step["out"]}


def langchain_agent(step: Step, _at: int) -> Step:
    tool, given, out = _parts(step)
    return {"thought": f"I need {out} first.", "action": tool, "action_input": given, "output_key": out}


def langgraph_node(step: Step, at: int) -> Step:
    tool, given, out = _parts(step)
    earlier = {"depends_on": [at - 1]} if at > 1 else {}
    return {"type": "tool", "name": tool, "args": given, "output": f"${out}", **earlier}


def langgraph_state_key(step: Step, _at: int) -> Step:
    tool, given, out = _parts(step)
    return {"node": f"{out}_node", "tool": tool, "kwargs": given, "writes": None, "result": out}


def haystack_component(step: Step, _at: int) -> Step:
    tool, given, out = _parts(step)
    return {"type": "component", "name": tool, "params": given, "outputs": [out]}


def haystack_run(step: Step, _at: int) -> Step:
    tool, given, out = _parts(step)
    return {"component": tool, "inputs": given, "outputs": [f"${out}"], "comment": "one of the pipeline"}


def github_action(step: Step, _at: int) -> Step:
    tool, given, out = _parts(step)
    return {"uses": tool, "with": given, "id": out}


def ansible_task(step: Step, _at: int) -> Step:
    tool, given, out = _parts(step)
    return {tool: given, "register": out}


def n8n_node(step: Step, _at: int) -> Step:
    tool, given, out = _parts(step)
    return {"type": tool, "parameters": given, "id": f"${out}", "notes": "as drawn"}


def crewai_task(step: Step, _at: int) -> Step:
    tool, given, out = _parts(step)
    return {
        "description": f"Get {out}.",
        "expected_output": "what the tool answers",
        "tool": tool,
        "inputs": given,
        "out": out,
    }


def flat(step: Step, _at: int) -> Step:
    return {"type": step["type"], **step["arguments"], "out": step["out"]}


def flat_with_reason(step: Step, at: int) -> Step:
    return {"step": at, "type": step["type"], "reason": "It is needed.", **step["arguments"], "as": step["out"][1:]}


def seed_execute_tool(step: Step, _at: int) -> Step:
    tool, given, out = _parts(step)
    return {"type": "execute_tool", "tool_name": tool, "arguments": given, "out": f"${out}"}


def seed_session_execute(step: Step, _at: int) -> Step:
    tool, given, out = _parts(step)
    return {"type": "call", "function": tool.partition("/")[2], "args": given, "store_as": out}


CALLS: tuple[Write, ...] = (
    openai_tool_call,
    openai_function_call,
    openai_responses,
    anthropic_tool_use,
    anthropic_named,
    mcp_request,
    mcp_server_and_tool,
    langchain_agent,
    langgraph_node,
    langgraph_state_key,
    haystack_component,
    haystack_run,
    github_action,
    ansible_task,
    n8n_node,
    crewai_task,
    flat,
    flat_with_reason,
    seed_execute_tool,
    seed_session_execute,
)
_OF_CALLS = ("refund", "articles", "ticket", "weather")


def _written() -> Iterator[Case]:
    """The plans of calls alone, in each way to write a call."""
    for write in CALLS:
        for name in _OF_CALLS:
            yield write.__name__, name, [write(step, at) for at, step in enumerate(MEANT[name], start=1)]


def _but(step: Step, *gone: str, **others: Any) -> Step:
    """A step with some fields left out and others put in."""
    return {**{key: value for key, value in copy.deepcopy(step).items() if key not in gone}, **others}


def _rows(*steps: Step) -> list[Step]:
    return [ROWS, *steps]


def _long(step: Step) -> list[Step]:
    return _rows(step, COUNT, MANY)


def _by(**keys: Any) -> list[Step]:
    return _sorted({"type": "sort", **keys, **_S})


def _sorted(step: Step) -> list[Step]:
    return _rows(step, TOP, NAMES, LINES, TOLD)


def _top(step: Step) -> list[Step]:
    return _rows(FIRST, step, NAMES, LINES, TOLD)


def _ordered(step: Step) -> list[Step]:
    return _rows(step, BUSIEST, report("${busiest[0].who}: ${busiest[0].total}"))


def _branched(condition: Any, **others: Any) -> list[Step]:
    return [CUSTOMER, ORDERS, _but(BRANCH, condition=condition, **others)]


_F = {"target": "$tasks", "out": "$long"}
_S = {"target": "$tasks", "out": "$sorted"}
TABLES: list[Case] = [
    # SQL
    ("sql", "long", _long({"type": "filter", "where": "hours > 2", **_F})),
    ("sql", "long", _long({"type": "filter-structured", "where": "WHERE hours > 2", **_F})),
    ("sql", "long", _long({"type": "filter-structured", "where": "SELECT * FROM tasks WHERE hours > 2", **_F})),
    ("sql", "long", _long({"type": "filter-structured", "condition": "hours > 2;", **_F})),
    ("sql", "long", _long({"type": "where", "condition": "hours > 2", **_F})),
    ("sql", "top", _sorted({"type": "order_by", "by": "hours desc", **_S})),
    ("sql", "top", _sorted({"type": "sort", "order_by": "hours DESC", **_S})),
    ("sql", "top", _sorted({"type": "sort", "by": "hours", "direction": "DESC", **_S})),
    ("sql", "top", _top({"type": "limit", "target": "$sorted", "count": 2, "out": "$top"})),
    ("sql", "top", _top({"type": "head", "target": "$sorted", "limit": 2, "out": "$top"})),
    (
        "sql",
        "sums",
        _ordered(
            {"type": "group_by", "target": "$tasks", "by": "who", "aggregates": {"total": "SUM(hours)"}, "out": "$sums"}
        ),
    ),
    (
        "sql",
        "sums",
        _ordered(
            {
                "type": "group",
                "from": "$tasks",
                "group_by": "who",
                "aggregates": {"total": "sum(hours)"},
                "out": "$sums",
            }
        ),
    ),
    (
        "sql",
        "costs",
        _rows(
            {"type": "project", "target": "$tasks", "select": {"task": "task", "cost": "hours * 40"}, "out": "$costs"},
            report("${costs[1].cost}"),
        ),
    ),
    (
        "sql",
        "costs",
        _rows(
            {"type": "project", "from": "$tasks", "columns": {"task": "task", "cost": "hours * 40"}, "out": "$costs"},
            report("${costs[1].cost}"),
        ),
    ),
    # pandas
    ("pandas", "long", _long({"type": "filter-structured", "query": "hours > 2", **_F})),
    ("pandas", "long", _long({"type": "filter_structured", "where": "hours > 2", **_F})),
    ("pandas", "long", _long({"type": "filter-structured", "where": "hours > 2", "source": "$tasks", "out": "long"})),
    ("pandas", "top", _sorted({"type": "sort_values", "by": "hours", "ascending": False, **_S})),
    ("pandas", "top", _sorted({"type": "sort", "by": "hours", "ascending": False, **_S})),
    ("pandas", "top", _sorted({"type": "sort", "by": ["hours"], "order": "descending", **_S})),
    ("pandas", "top", _sorted({"type": "sort", "column": "hours", "order": "desc", **_S})),
    ("pandas", "top", _top({"type": "head", "target": "$sorted", "n": 2, "out": "$top"})),
    ("pandas", "top", _top({"type": "head", "target": "$sorted", "count": "2", "out": "$top"})),
    (
        "pandas",
        "sums",
        _ordered({"type": "groupby", "target": "$tasks", "by": "who", "agg": {"total": "sum(hours)"}, "out": "$sums"}),
    ),
    (
        "pandas",
        "sums",
        _ordered({"type": "group", "target": "$tasks", "by": "who", "aggs": {"total": "sum(hours)"}, "out": "$sums"}),
    ),
    (
        "pandas",
        "costs",
        _rows(
            {"type": "project", "df": "$tasks", "fields": {"task": "task", "cost": "hours * 40"}, "out": "$costs"},
            report("${costs[1].cost}"),
        ),
    ),
    (
        "pandas",
        "top",
        _rows(FIRST, TOP, {"type": "pluck", "target": "$top", "column": "task", "out": "$names"}, LINES, TOLD),
    ),
    (
        "pandas",
        "top",
        _rows(FIRST, TOP, NAMES, {"type": "flatten", "target": "$names", "sep": ", ", "out": "$text"}, TOLD),
    ),
    # jq
    ("jq", "top", _sorted({"type": "sort_by", "by": "-hours", **_S})),
    ("jq", "top", _sorted({"type": "sort", "by": "-hours", **_S})),
    ("jq", "last", _by(by="-task")),
    ("jq", "last", _by(by="-(task)", nulls="last")),
    ("jq", "top", _sorted({"type": "sort", "key": "hours", "reverse": True, **_S})),
    ("jq", "top", _rows(FIRST, TOP, {"type": "pluck", "target": "$top", "path": "task", "out": "$names"}, LINES, TOLD)),
    (
        "jq",
        "top",
        _rows(FIRST, TOP, {"type": "pluck", "target": "$top", "field": ".task", "out": "$names"}, LINES, TOLD),
    ),
    ("jq", "long", _rows(LONG, {"type": "length", "target": "$long", "out": "$n"}, MANY)),
    ("jq", "long", _rows(LONG, {"type": "size", "input": "$long", "out": "$n"}, MANY)),
    ("jq", "long", _rows(LONG, {"type": "count", "target": "$long", "out": "n"}, MANY)),
    ("jq", "long", _long({"type": "filter", "condition": "hours > 2", **_F})),
    # mongo, javascript
    ("mongo", "long", _long({"type": "filter-structured", "where": {"hours": {"$gt": 2}}, **_F})),
    ("mongo", "long", _long({"type": "filter-structured", "filter": {"hours": {"gt": 2}}, **_F})),
    ("mongo", "top", _sorted({"type": "sort", "keys": "hours", "descending": True, **_S})),
    ("mongo", "last", _by(by={"task": -1})),
    ("mongo", "both", _by(by={"who": -1, "hours": 1})),
    ("mongo", "both", _by(by=[["who", -1], ["hours", 1]])),
    ("arangodb", "both", _by(by=["who", "desc", "hours", "asc"])),
    ("arangodb", "last", _by(by=["task", "DESC"])),
    ("elasticsearch", "both", _by(by=[{"who": {"order": "desc"}}, {"hours": "asc"}])),
    ("elasticsearch", "both", _by(by=["who:desc", "hours:asc"])),
    ("elasticsearch", "both", _by(by="who:desc,hours:asc")),
    ("django", "both", _by(by=["-who", "+hours"])),
    ("django", "both", _by(by=["-who", "hours"])),
    ("dplyr", "both", _by(by=["desc(who)", "hours"])),
    ("haystack", "both", _by(by=[{"field": "who", "order": "desc"}, {"field": "hours", "order": "asc"}])),
    ("sql", "both", _by(by="ORDER BY who DESC, hours")),
    ("sql", "both", _by(by=["who descending", "hours ASC"])),
    ("sql", "last", _by(by="task DESC NULLS LAST")),
    ("pandas", "both", _by(by=["who", "hours"], ascending=[False, True])),
    ("pandas", "both", _by(by=["who", "hours"], order=["desc", "asc"])),
    ("javascript", "long", _long({"type": "filter-structured", "where": "hours > 2 && hours > 0", **_F})),
    (
        "javascript",
        "long",
        _long({"type": "filterStructured", "target": "$tasks", "where": "hours > 2", "out": "$long"}),
    ),
    ("javascript", "long", _rows(LONG, {"type": "size", "target": "$long.items", "out": "$n"}, MANY)),
    # conditions
    ("langgraph", "branch", _branched({"type": "gt", "target": "$orders.count", "value": 0})),
    ("langgraph", "branch", _branched({"type": "greater_than", "left": "$orders.count", "right": 0})),
    ("python", "branch", _branched("orders.count > 0")),
    ("python", "branch", _branched("${orders.count} > 0")),
    ("javascript", "branch", _branched("$orders.count > 0 && $orders.count > 0")),
    ("step-functions", "branch", _branched({"type": "greaterThan", "variable": "$orders.count", "value": 0})),
    ("json-logic", "branch", _branched({"type": ">", "target": "$orders.count", "value": 0})),
    (
        "langgraph",
        "branch",
        [CUSTOMER, ORDERS, {"type": "conditional", **{key: BRANCH[key] for key in ("condition", "then", "else")}}],
    ),
    (
        "langgraph",
        "branch",
        [CUSTOMER, ORDERS, {"if": BRANCH["condition"], "then": BRANCH["then"], "else": BRANCH["else"]}],
    ),
    (
        "langgraph",
        "branch",
        [
            CUSTOMER,
            ORDERS,
            {"type": "if", "condition": BRANCH["condition"], "if_true": BRANCH["then"], "if_false": BRANCH["else"]},
        ],
    ),
    ("langgraph", "branch", [CUSTOMER, ORDERS, _but(BRANCH, then=BRANCH["then"][0])]),
    ("langgraph", "branch", [CUSTOMER, ORDERS, _but(BRANCH, **{"else": BRANCH["else"][0]})]),
    ("langgraph", "branch", [CUSTOMER, ORDERS, _but(BRANCH, "condition", when=BRANCH["condition"])]),
    # loops
    ("python", "each", [MAILS, _but(EACH, type="foreach")]),
    ("python", "each", [MAILS, _but(EACH, type="for_each")]),
    ("python", "each", [MAILS, _but(EACH, type="for")]),
    ("python", "each", [MAILS, _but(EACH, "target", items="$mails")]),
    ("python", "each", [MAILS, _but(EACH, "target", **{"in": "$mails"})]),
    ("python", "each", [MAILS, _but(EACH, "do", body=EACH["do"])]),
    ("python", "each", [MAILS, _but(EACH, "do", steps=EACH["do"])]),
    ("python", "each", [MAILS, _but(EACH, "do", do=EACH["do"][0])]),
    ("python", "each", [MAILS, _but(EACH, "as", item="$mail")]),
    ("python", "each", [MAILS, {"for-each": "$mails", "as": "mail", "do": EACH["do"], "out": "$customers"}]),
    ("python", "each", [MAILS, _but(EACH, do=[flat(EACH["do"][0], 1)])]),
    (
        "langgraph",
        "over",
        [MAILS, _but(OVER, operation={"tool": "desk/find_customer", "arguments": {"email": "$item"}})],
    ),
    ("langgraph", "over", [MAILS, _but(OVER, operation={"type": "desk/find_customer", "args": {"email": "$item"}})]),
    ("langgraph", "over", [MAILS, _but(OVER, operation={"type": "desk/find_customer", "email": "$item"})]),
    ("langgraph", "over", [MAILS, _but(OVER, "operation", function=OVER["operation"])]),
    ("langgraph", "over", [MAILS, _but(OVER, "target", collection="$mails")]),
]
"""Verbs, conditions and loops as languages of queries and of programs have them."""


def _call(step: Step, **given: Any) -> Step:
    """A call with other arguments; one that is None is left out."""
    merged = {key: value for key, value in {**step["arguments"], **given}.items() if value is not ...}
    return {**step, "arguments": merged}


ODDS: list[Case] = [
    # whole documents
    (
        "langgraph",
        "ticket",
        {"nodes": [{**TICKET, "id": "a"}, {**ASSIGN, "id": "b"}], "edges": [["START", "a"], ["a", "b"], ["b", "END"]]},
    ),
    (
        "langgraph",
        "ticket",
        {"nodes": [{**TICKET, "id": "a"}, {**ASSIGN, "id": "b"}], "edges": [{"source": "a", "target": "b"}]},
    ),
    ("crewai", "ticket", {"goal": "a ticket", "tasks": [TICKET, ASSIGN]}),
    ("openai", "ticket", {"tool_calls": [openai_tool_call(TICKET, 1), openai_tool_call(ASSIGN, 2)]}),
    (
        "airflow",
        "ticket",
        {"tasks": [{**TICKET, "task_id": "open"}, {**ASSIGN, "task_id": "give", "upstream": ["open"]}]},
    ),
    ("github actions", "ticket", {"name": "tickets", "steps": [github_action(TICKET, 1), github_action(ASSIGN, 2)]}),
    ("chatty", "ticket", {"description": "open and assign", "steps": [TICKET, ASSIGN]}),
    ("chatty", "ticket", {"plan": {"goal": "open and assign", "steps": [TICKET, ASSIGN]}}),
    ("chatty", "ticket", {"steps": [TICKET, ASSIGN], "output": "$assigned"}),
    ("chatty", "ticket", {"steps": [TICKET, ASSIGN], "result": "assigned"}),
    ("chatty", "ticket", {"actions": [TICKET, ASSIGN], "title": "tickets"}),
    ("semantic kernel", "ticket", {"goal": "a ticket", "stepz": [TICKET, ASSIGN]}),
    # order, labels, comments
    ("airflow", "ticket", [{**TICKET, "id": "open"}, {**ASSIGN, "depends_on": ["open"]}]),
    ("dify", "ticket", [TICKET, {**ASSIGN, "dependencies": ["$ticket"]}]),
    ("step-functions", "ticket", [{**TICKET, "comment": "first"}, {**ASSIGN, "comment": "second"}]),
    ("llm compiler", "ticket", [_but(TICKET, "out", id="ticket"), ASSIGN]),
    ("llm compiler", "ticket", [_but(TICKET, "out", id="$ticket"), ASSIGN]),
    ("llm compiler", "ticket", [_but(TICKET, "out", step_id="ticket"), ASSIGN]),
    ("autogen", "ticket", [{**TICKET, "rationale": "it is broken", "expect": "an id"}, ASSIGN]),
    ("autogen", "ticket", [{**TICKET, "thought": "open it", "notes": ["a", "b"]}, ASSIGN]),
    # values
    ("chatty", "articles", [_call(ARTICLES, top="3"), MAIL]),
    ("chatty", "articles", [_call(ARTICLES, top=3, language=None), MAIL]),
    ("chatty", "articles", [ARTICLES, _call(MAIL, to="ann@example.org")]),
    (
        "chatty",
        "articles",
        [ARTICLES, _call(MAIL, body="Please read ${found.result.articles[0].title}: ${found.articles[0].url}")],
    ),
    (
        "langchain",
        "weather",
        [WEATHER, report("It is ${weather.output.temperature} degrees: ${weather.content.summary}")],
    ),
    ("chatty", "refund", [CUSTOMER, _call(ORDERS, customer_id="$customer.result.customer_id"), REFUND]),
    ("chatty", "refund", [CUSTOMER, _call(ORDERS, customer_id="$customer.data.customer_id"), REFUND]),
    ("chatty", "refund", [CUSTOMER, _call(ORDERS, customer_id="$Customer.customer_id"), REFUND]),
    ("chatty", "refund", [CUSTOMER, _call(ORDERS, customer_id="$customer.customerId"), REFUND]),
    ("chatty", "refund", [CUSTOMER, _call(ORDERS, status="Open"), REFUND]),
    ("chatty", "refund", [CUSTOMER, ORDERS, _call(REFUND, amount="12.5")]),
    ("chatty", "refund", [CUSTOMER, ORDERS, _call(REFUND, notify=None)]),
    ("chatty", "refund", [CUSTOMER, ORDERS, _call(REFUND, order_id=..., orderId="$orders.orders[0].order_id")]),
    ("chatty", "ticket", [TICKET, _call(ASSIGN, ticket_id="$ticket")]),
    ("chatty", "ticket", [TICKET, _call(ASSIGN, ticket_id=..., ticketid="$ticket.ticket_id")]),
    ("chatty", "ticket", [TICKET, _call(ASSIGN, user_id=..., user="u7")]),
    ("chatty", "ticket", [{**TICKET, "type": "desk/createTicket"}, {**ASSIGN, "type": "Desk/assign-ticket"}]),
    ("chatty", "ticket", [{**TICKET, "type": "create_ticket"}, {**ASSIGN, "type": "functions.assign_ticket"}]),
    ("chatty", "ticket", [{**TICKET, "type": "mcp__desk__create_ticket"}, ASSIGN]),
    ("chatty", "ticket", [{**TICKET, "type": "desk/create_tickt"}, ASSIGN]),
    ("chatty", "weather", [WEATHER, report("It is $weather.temperature degrees: ${weather.summary}")]),
    ("chatty", "weather", [_call(WEATHER, unit="Celsius"), SPOKEN]),
    ("chatty", "weather", [{**WEATHER, "out": "weather"}, SPOKEN]),
    ("chatty", "room", [_call(ROOM, hours="2")]),
    ("chatty", "room", [{**ROOM, "arguments": json.dumps(ROOM["arguments"])}]),
    ("chatty", "room", [{**ROOM, "timeout_s": "30"}]),
    ("chatty", "room", [{**ROOM, "retry": 3}]),
    ("chatty", "room", [{**ROOM, "id": 1}]),
    # references of others: hints alone, by what the language says
    ("handlebars", "ticket", [TICKET, _call(ASSIGN, ticket_id="{{ticket.ticket_id}}")]),
    ("n8n", "ticket", [TICKET, _call(ASSIGN, ticket_id="={{ $ticket.ticket_id }}")]),
    ("jsonpath", "ticket", [TICKET, _call(ASSIGN, ticket_id="$.ticket.ticket_id")]),
    ("rewoo", "ticket", [_but(TICKET, "out", id="E1"), _call(ASSIGN, ticket_id="#E1.ticket_id")]),
    ("github actions", "ticket", [TICKET, _call(ASSIGN, ticket_id="${{ steps.ticket.outputs.ticket_id }}")]),
    (
        "haystack",
        "ticket",
        {"components": {"open": TICKET, "give": ASSIGN}, "connections": [{"sender": "open", "receiver": "give"}]},
    ),
]
"""Whole documents, labels, values and references as others write them."""

GUESSES: list[tuple[str, Any]] = [
    ("opposite", [{**TICKET, "type": "desk/delete_ticket"}, ASSIGN]),
    ("opposite", [{**TICKET, "type": "desk/reopen_ticket", "arguments": {"ticket_id": "t"}}]),
    ("another noun", [CUSTOMER, {**ORDERS, "type": "desk/list_offers"}]),
    ("another server", [{**TICKET, "type": "jira/create_ticket"}, ASSIGN]),
    ("another verb", [{"type": "summarize", "target": "x"}]),
    ("number", [CUSTOMER, ORDERS, _call(REFUND, amount=-20)]),
    ("number", [_call(TICKET, priority=50)]),
    ("number", [_call(ROOM, hours=24)]),
    ("number", [_call(ROOM, hours=0)]),
    ("number", [_call(ARTICLES, top=500), MAIL]),
    ("enum", [CUSTOMER, _call(ORDERS, status="overdue"), REFUND]),
    ("enum", [_call(WEATHER, unit="kelvin"), SPOKEN]),
    ("enum", [ARTICLES, _call(MAIL, priority="urgent")]),
    ("dropped", [_call(TICKET, urgent=True), ASSIGN]),
    ("dropped", [CUSTOMER, ORDERS, _call(REFUND, currency="EUR")]),
    ("dropped", [_call(ARTICLES, sort="newest"), MAIL]),
    ("dropped", [{"type": "discover-notes", "query": "x", "rerank": True, "out": "$h"}]),
    ("made up", [TICKET, _call(ASSIGN, ticket_id="$members.id")]),
    ("made up", [TICKET, _call(ASSIGN, user_id="$owner")]),
    ("made up", [ROWS, {"type": "size", "out": "$n"}]),
    ("aggregate", _ordered(_but(SUMS, aggregates={"total": "mode(hours)"}))),
    ("aggregate", _ordered(_but(SUMS, aggregates={"total": "stddev(hours)"}))),
    ("computation", [WEATHER, report("$weather.temperature + 1")]),
    ("computation", [WEATHER, report("$weather.temperature * 9 / 5")]),
    ("computation", [CUSTOMER, report("len($customer.name)")]),
    ("decoration", [CUSTOMER, report("{{$customer.name}}")]),
    ("decoration", [CUSTOMER, report("<$customer.name>")]),
    ("decoration", [CUSTOMER, report("${{$customer.name}}")]),
    ("order", _by(by="-task", order="desc")),
    ("order", _by(by="-task", order="asc")),
    ("order", _by(by="-task", descending=True)),
    ("order", _by(by="-task", direction="desc")),
    ("order", _by(by="+task", order="desc")),
    ("order", _by(by="-task desc")),
    ("order", _by(by={"-task": "desc"})),
    ("order", _by(by="-task:desc")),
    ("order", _by(by="desc(-task)")),
    ("order", _by(by={"task": "up"})),
    ("order", _by(by={"task": True})),
    ("order", _by(by="task desc nulls first", nulls="last")),
    ("order", _by(by=["who", "hours"], ascending=[False])),
    ("order", _by(by=["-who", "hours"], ascending=[False, True])),
    ("comparison", _rows({"type": "filter-structured", "where": "hours >> 2", **_F}, COUNT)),
    ("comparison", _rows({"type": "filter-structured", "where": "hours > 2 AND", **_F}, COUNT)),
    ("missing", [CUSTOMER, ORDERS, _call(REFUND, amount=...)]),
    ("missing", [_call(WEATHER, city=...), SPOKEN]),
    ("kind", [ROWS, {"type": "create-note", "value": 1, "out": "$x"}, {"type": "size", "target": "$x", "out": "$n"}]),
    ("id", [{"type": "load", "target": "Note_99999", "out": "$x"}]),
    ("wait", [{**ASSIGN, "depends_on": ["later"], "arguments": {"ticket_id": "t", "user_id": "u"}}]),
]
"""Plans of which it is not plain what was meant: no fix makes one pass."""


def cases() -> list[Case]:
    """Return all wrong plans that were meant to be another one."""
    return [*_written(), *TABLES, *ODDS]


__all__ = ["BUSIEST", "COSTS", "GUESSES", "TASKS", "cases"]
