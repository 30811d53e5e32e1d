"""The tools of a shop's desk, as a server lists them, and the plans over them that wrong plans were meant to be."""

from __future__ import annotations

from typing import Any

TEXT: dict[str, Any] = {"type": "string"}
NUMBER: dict[str, Any] = {"type": "number"}
WHOLE: dict[str, Any] = {"type": "integer"}
TRUTH: dict[str, Any] = {"type": "boolean"}


def _object(required: str, **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required.split(),
        "additionalProperties": False,
    }


def _list(item: Any) -> dict[str, Any]:
    return {"type": "array", "items": item}


def _tool(name: str, what: str, takes: dict[str, Any], gives: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "description": what, "inputSchema": takes, "outputSchema": gives}


ORDER = _object("order_id total status placed_on", order_id=TEXT, total=NUMBER, status=TEXT, placed_on=TEXT)
ARTICLE = _object("title url score", title=TEXT, url=TEXT, score=NUMBER)
ITEM = _object("sku quantity price", sku=TEXT, quantity=WHOLE, price=NUMBER)
TOOLS = [
    _tool(
        "find_customer",
        "Find a customer by mail address.",
        _object("email", email=TEXT),
        _object("customer_id name vip", customer_id=TEXT, name=TEXT, vip=TRUTH),
    ),
    _tool(
        "list_orders",
        "List the orders of a customer.",
        _object(
            "customer_id",
            customer_id=TEXT,
            status={"type": "string", "enum": ["open", "paid", "shipped", "all"]},
            limit={"type": "integer", "minimum": 1, "maximum": 100},
        ),
        _object("orders count", orders=_list(ORDER), count=WHOLE),
    ),
    _tool(
        "get_order",
        "Get one order with its items.",
        _object("order_id", order_id=TEXT),
        _object("order_id total currency items", order_id=TEXT, total=NUMBER, currency=TEXT, items=_list(ITEM)),
    ),
    _tool(
        "refund_order",
        "Pay back some of what was paid for an order.",
        _object("order_id amount", order_id=TEXT, amount={"type": "number", "minimum": 0}, reason=TEXT, notify=TRUTH),
        _object("refund_id status", refund_id=TEXT, status=TEXT),
    ),
    _tool(
        "cancel_order",
        "Cancel an order.",
        _object("order_id", order_id=TEXT, reason=TEXT),
        _object("status", status=TEXT),
    ),
    _tool(
        "send_mail",
        "Send a mail.",
        _object(
            "to subject body",
            to=_list(TEXT),
            subject=TEXT,
            body=TEXT,
            priority={"type": "string", "enum": ["low", "normal", "high"]},
        ),
        _object("message_id", message_id=TEXT),
    ),
    _tool(
        "search_articles",
        "Search the help articles.",
        _object(
            "query",
            query=TEXT,
            top={"type": "integer", "minimum": 1, "maximum": 50},
            language={"type": "string", "enum": ["en", "de", "fr"]},
        ),
        _object("articles", articles=_list(ARTICLE)),
    ),
    _tool(
        "create_ticket",
        "Open a ticket.",
        _object(
            "title",
            title=TEXT,
            description=TEXT,
            priority={"type": "integer", "minimum": 1, "maximum": 5},
            tags=_list(TEXT),
        ),
        _object("ticket_id", ticket_id=TEXT),
    ),
    _tool(
        "assign_ticket",
        "Assign a ticket to somebody.",
        _object("ticket_id user_id", ticket_id=TEXT, user_id=TEXT),
        _object("ok", ok=TRUTH),
    ),
    _tool(
        "close_ticket",
        "Close a ticket.",
        _object("ticket_id", ticket_id=TEXT, resolution=TEXT),
        _object("closed", closed=TRUTH),
    ),
    _tool(
        "get_weather",
        "Say what the weather is.",
        _object("city", city=TEXT, unit={"type": "string", "enum": ["celsius", "fahrenheit"]}),
        _object("temperature summary", temperature=NUMBER, summary=TEXT),
    ),
    _tool(
        "convert_currency",
        "Convert an amount.",
        _object("amount source target", amount=NUMBER, source=TEXT, target=TEXT),
        _object("converted", converted=NUMBER),
    ),
    _tool(
        "book_room",
        "Book a room.",
        _object("room day", room=TEXT, day=TEXT, hours={"type": "integer", "minimum": 1, "maximum": 8}),
        _object("booking_id", booking_id=TEXT),
    ),
]

CUSTOMER = {"type": "desk/find_customer", "arguments": {"email": "ann@example.org"}, "out": "$customer"}
ORDERS = {
    "type": "desk/list_orders",
    "arguments": {"customer_id": "$customer.customer_id", "status": "open"},
    "out": "$orders",
}
REFUND = {
    "type": "desk/refund_order",
    "arguments": {"order_id": "$orders.orders[0].order_id", "amount": 12.5, "reason": "damaged"},
    "out": "$refund",
}
ARTICLES = {"type": "desk/search_articles", "arguments": {"query": "return policy", "top": 3}, "out": "$found"}
MAIL = {
    "type": "desk/send_mail",
    "arguments": {
        "to": ["ann@example.org"],
        "subject": "Our policy",
        "body": "Please read ${found.articles[0].title}: ${found.articles[0].url}",
    },
    "out": "$sent",
}
TICKET = {"type": "desk/create_ticket", "arguments": {"title": "Printer is broken", "priority": 2}, "out": "$ticket"}
ASSIGN = {
    "type": "desk/assign_ticket",
    "arguments": {"ticket_id": "$ticket.ticket_id", "user_id": "u7"},
    "out": "$assigned",
}
WEATHER = {"type": "desk/get_weather", "arguments": {"city": "Oslo", "unit": "celsius"}, "out": "$weather"}
ROOM = {"type": "desk/book_room", "arguments": {"room": "Blue", "day": "2026-03-02", "hours": 2}, "out": "$booking"}
TASKS: list[Any] = [
    {"task": "paint", "who": "ann", "hours": 5, "done": False},
    {"task": "clean", "who": "bob", "hours": 2, "done": True},
    {"task": "build", "who": "ann", "hours": 8, "done": False},
    {"task": "plan", "who": "cid", "hours": 1, "done": False},
]
ROWS = {"type": "create-collection", "value": TASKS, "out": "$tasks"}
LONG = {"type": "filter-structured", "target": "$tasks", "where": "hours > 2", "out": "$long"}
FIRST = {"type": "sort", "target": "$tasks", "by": "hours", "order": "desc", "out": "$sorted"}
LAST = {"type": "sort", "target": "$tasks", "by": "task desc", "out": "$sorted"}
BOTH = {"type": "sort", "target": "$tasks", "by": ["who desc", "hours asc"], "out": "$sorted"}
TOP = {"type": "head", "target": "$sorted", "count": 2, "out": "$top"}
NAMES = {"type": "pluck", "target": "$top", "field": "task", "out": "$names"}
COUNT = {"type": "size", "target": "$long", "out": "$n"}


def report(value: str) -> dict[str, Any]:
    """A step that lets the server see a value: a ticket with it for its title."""
    return {"type": "desk/create_ticket", "arguments": {"title": value}, "out": "$told"}


LINES = {"type": "flatten", "target": "$names", "separator": ", ", "out": "$text"}
SUMS = {"type": "group", "target": "$tasks", "by": "who", "aggregates": {"total": "sum(hours)"}, "out": "$sums"}
BUSIEST = {"type": "sort", "target": "$sums", "by": "total", "order": "desc", "out": "$busiest"}
COSTS = {
    "type": "project",
    "target": "$tasks",
    "fields": {"task": "task", "cost": "hours * 40"},
    "out": "$costs",
}
MAILS = {"type": "create-collection", "value": ["ann@example.org", "bob@example.org"], "out": "$mails"}
EACH = {
    "type": "for-each",
    "target": "$mails",
    "as": "$mail",
    "do": [{"type": "desk/find_customer", "arguments": {"email": "$mail"}, "out": "$one"}],
    "out": "$customers",
}
OVER = {
    "type": "map",
    "target": "$mails",
    "operation": {"type": "desk/find_customer", "arguments": {"email": "$item"}},
    "out": "$customers",
}
BRANCH = {
    "type": "if",
    "condition": {"type": "greater_than", "target": "$orders.count", "value": 0},
    "then": [report("${orders.count} open orders")],
    "else": [report("no open orders")],
}
MEANT: dict[str, list[dict[str, Any]]] = {
    "refund": [CUSTOMER, ORDERS, REFUND],
    "articles": [ARTICLES, MAIL],
    "ticket": [TICKET, ASSIGN],
    "weather": [WEATHER, report("It is ${weather.temperature} degrees: ${weather.summary}")],
    "room": [ROOM],
    "long": [ROWS, LONG, COUNT, report("${n} long tasks")],
    "top": [ROWS, FIRST, TOP, NAMES, LINES, report("${text}")],
    "last": [ROWS, LAST, TOP, NAMES, LINES, report("${text}")],
    "both": [ROWS, BOTH, TOP, NAMES, LINES, report("${text}")],
    "sums": [ROWS, SUMS, BUSIEST, report("${busiest[0].who}: ${busiest[0].total}")],
    "costs": [ROWS, COSTS, report("${costs[1].cost}")],
    "each": [MAILS, EACH],
    "over": [MAILS, OVER],
    "branch": [CUSTOMER, ORDERS, BRANCH],
}
"""What was meant, by name."""
