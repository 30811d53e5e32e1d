"""The tools of the corpus as plain functions over small data: programs call them, the server offers them.

The module needs the standard library alone, since the server starts without site-packages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def rows(keys: str, *values: tuple[Any, ...]) -> list[dict[str, Any]]:
    return [dict(zip(keys.split(), row, strict=True)) for row in values]


ORDERS = rows(
    "id customer product price quantity status day",
    (1, "Ada", "lamp", 40.0, 2, "paid", "2026-03-03"),
    (2, "Bo", "desk", 250.0, 1, "open", "2026-03-05"),
    (3, "Ada", "chair", 80.5, 4, "paid", "2026-04-20"),
    (4, "Cy", "lamp", 40.0, 1, "cancelled", "2026-05-01"),
    (5, "Bo", "chair", 80.5, 2, "paid", "2026-05-02"),
    (6, "Di", "desk", 250.0, 3, "open", "2026-06-01"),
    (7, "Ada", "cable", 3.2, 10, "open", "2026-06-05"),
    (8, "Cy", "desk", 250.0, 1, "paid", "2026-06-10"),
)
PRODUCTS = rows(
    "name category price stock rating",
    ("lamp", "light", 40.0, 12, 4.5),
    ("desk", "furniture", 250.0, 3, 4.1),
    ("chair", "furniture", 80.5, 0, 3.9),
    ("cable", "electronics", 3.2, 150, None),
    ("mouse", "electronics", 25.0, 40, 4.7),
    ("shelf", "furniture", 120.0, 7, 4.4),
    ("bulb", "light", 6.5, 0, 4.0),
)
CUSTOMERS = rows(
    "name email country since vip",
    ("Ada", "ada@north.example", "NO", "2021-03-01", True),
    ("Bo", "bo@east.example", "SE", "2023-07-15", False),
    ("Cy", "cy@west.example", "NO", "2024-11-30", False),
    ("Di", "di@south.example", "DK", "2026-01-10", True),
)
EMPLOYEES = rows(
    "name team salary manager start skills",
    ("Ann", "data", 72000, None, "2019-02-01", ["sql", "python"]),
    ("Ben", "data", 58000, "Ann", "2022-05-16", ["python"]),
    ("Cleo", "web", 64000, "Ann", "2020-09-01", ["js", "css"]),
    ("Dan", "web", 51000, "Cleo", "2025-01-13", ["js"]),
    ("Eve", "ops", 60000, "Ann", "2023-11-06", ["sql", "bash"]),
    ("Finn", "ops", 47000, "Eve", "2026-06-01", ["bash"]),
)
EXPENSES = rows(
    "employee category amount day",
    ("Ann", "travel", 320.4, "2026-03-14"),
    ("Ben", "travel", 88.0, "2026-04-02"),
    ("Ann", "meals", 45.5, "2026-04-03"),
    ("Dan", "hardware", 1200.0, "2026-04-21"),
    ("Eve", "travel", 410.0, "2026-05-04"),
    ("Ben", "meals", 22.25, "2026-05-05"),
    ("Finn", "hardware", 89.9, "2026-06-08"),
)
WEATHER = rows(
    "city temp rain",
    ("Oslo", 3.5, 2.0),
    ("Rome", 17.0, 0.0),
    ("Cairo", 24.5, 0.0),
    ("Bergen", 6.0, 11.5),
)
FLIGHTS = rows(
    "code price stops minutes",
    ("DY1", 120, 0, 130),
    ("SK2", 95, 1, 260),
    ("LH3", 210, 0, 125),
    ("KL4", 88, 2, 410),
)
TASKS = rows(
    "title owner due done created priority",
    ("Renew passport", "Ann", "2026-06-10", False, "2026-05-01", 1),
    ("Pay rent", "Ann", "2026-06-15", False, "2026-06-01", 1),
    ("Book flights", "Ben", "2026-06-30", False, "2026-06-02", 2),
    ("Write report", "Ben", "2026-05-29", False, "2026-04-20", 3),
    ("Clean desk", "Cleo", None, False, "2026-06-03", 3),
    ("Send invoice", "Cleo", "2026-06-05", True, "2026-05-20", 2),
    ("Plan offsite", "Ann", "2026-07-02", False, "2026-06-12", 2),
    ("Fix bike", "Ben", "2026-06-19", True, "2026-06-14", 3),
)
EVENTS = rows(
    "title start end room",
    ("Stand-up", "2026-06-15T09:00", "2026-06-15T09:15", "A"),
    ("Design review", "2026-06-15T13:00", "2026-06-15T14:30", "B"),
    ("Interview", "2026-06-16T10:00", "2026-06-16T11:00", "A"),
    ("Board", "2026-06-18T09:00", "2026-06-18T12:00", "B"),
    ("Retro", "2026-06-22T15:00", "2026-06-22T16:00", "A"),
    ("Offsite", "2026-07-02T09:00", "2026-07-02T17:00", "C"),
)
SUBSCRIPTIONS = rows(
    "name renews monthly",
    ("mail", "2026-06-20", 4.5),
    ("cloud", "2026-07-15", 12.0),
    ("music", "2026-06-15", 9.9),
    ("news", "2027-01-31", 7.25),
)
ISSUES = rows(
    "number title author votes state labels",
    (11, "Crash on start", "kim", 9, "open", ["bug", "urgent"]),
    (12, "Dark mode", "lee", 14, "open", ["feature"]),
    (13, "Typo in help", "kim", 1, "closed", ["docs"]),
    (14, "Slow search", "mo", 7, "open", ["bug"]),
    (15, "Export as CSV", "lee", 5, "closed", ["feature"]),
    (16, "Wrong total", "ada", 9, "closed", ["bug"]),
    (17, "New logo", "mo", 0, "open", []),
    (18, "Undo is lost", "kim", 6, "open", ["bug"]),
    (19, "Keyboard keys", "ada", 3, "open", ["docs", "feature"]),
    (20, "Crash on exit", "lee", 4, "closed", ["bug", "urgent"]),
)
COMMITS = rows(
    "sha author lines day",
    ("a1", "kim", 120, "2026-06-01"),
    ("b2", "mo", 8, "2026-06-01"),
    ("c3", "kim", 45, "2026-06-02"),
    ("d4", "lee", 300, "2026-06-03"),
    ("e5", "mo", 2, "2026-06-03"),
    ("f6", "kim", 15, "2026-06-04"),
    ("a7", "lee", 60, "2026-06-08"),
)
PAPERS = rows(
    "title year cites",
    ("Attention", 2017, 900),
    ("Adam", 2014, 800),
    ("Dropout", 2014, 500),
    ("BERT", 2018, 700),
    ("Word vectors", 2013, 400),
    ("Residual nets", 2015, 950),
    ("Scaling laws", 2020, 300),
    ("Chain of thought", 2022, 250),
)
INVOICES = rows(
    "id client amount paid",
    ("i1", "Ada", 120.0, True),
    ("i2", "Bo", 75.5, False),
    ("i3", "Ada", 60.0, False),
    ("i4", "Cy", 310.0, True),
    ("i5", "Bo", 24.5, False),
)
REVIEWS = rows(
    "author stars text",
    ("kim", 5, "Great lamp, bright and quiet."),
    ("lee", 2, "  Broken on arrival. Support was great though!  "),
    ("mo", 4, "Good value; the cable is short."),
    ("ada", 1, "Do NOT buy. Broken after 3 days, refund took 14 days."),
)
LOG = """2026-06-14 08:01:12 INFO start version=2.1.0
2026-06-14 08:01:13 WARN slow query took 1200 ms
2026-06-14 09:15:40 ERROR db timeout after 30 s
2026-06-14 09:15:41 INFO retry 1
2026-06-14 11:20:00 ERROR disk full on /var
2026-06-15 07:00:00 WARN slow query took 800 ms
2026-06-15 07:30:09 ERROR db timeout after 45 s"""
CONFIG = """# the server
host = example.org
port = 8080

debug = false
workers = 4"""
EMAILS = {
    1: """From: Ada <ada@north.example>
Subject: Re: invoice i3

Hello,
please send invoice i3 again, total 60.00 EUR.
Thanks
--
Ada, +47 555 0101""",
    2: """From: Bo <bo@east.example>
Subject: Meeting

Can we meet on 2026-06-18 or 2026-06-22?
Bo""",
    3: """From: Cy <cy@west.example>
Subject: Fwd: Order 8

Where is order #8? It was paid on 2026-06-10.
--
Cy, +47 555 0199""",
}
README = """# Orbit

Orbit plans satellite passes.

## Install

Run `pip install orbit`. It needs Python 3.12.

## Use

Run `orbit pass ISS`. See https://orbit.example/docs and https://orbit.example/faq.

## License

MIT"""
STAFF_CSV = 'name,phone,city\n"Doe, Jane",555-0101,Oslo\nRoe Rick,555-0102,Rome\n"Poe, Pia",555-0103,Oslo'
SENT: list[dict[str, Any]] = []
"""What `send_message` was given in this process."""


def list_orders(status: str | None = None) -> dict[str, Any]:
    """List the orders of the shop, or those of one status."""
    return {"orders": [order for order in ORDERS if status is None or order["status"] == status]}


def list_products() -> dict[str, Any]:
    """List the products of the shop."""
    return {"products": PRODUCTS}


def list_customers() -> dict[str, Any]:
    """List the customers of the shop."""
    return {"customers": CUSTOMERS}


def list_employees() -> dict[str, Any]:
    """List the employees."""
    return {"employees": EMPLOYEES}


def list_expenses() -> dict[str, Any]:
    """List the expenses of the year."""
    return {"expenses": EXPENSES}


def list_cities() -> dict[str, Any]:
    """List the cities that have a weather station."""
    return {"cities": [row["city"] for row in WEATHER]}


def get_weather(city: str) -> dict[str, Any]:
    """Get the weather of a city: degrees, and millimetres of rain."""
    return next(row for row in WEATHER if row["city"] == city)


def get_rate(currency: str) -> dict[str, Any]:
    """Get what one euro costs in a currency."""
    return {"currency": currency, "rate": {"EUR": 1.0, "NOK": 11.5, "USD": 1.25}[currency]}


def search_flights(origin: str, destination: str) -> dict[str, Any]:
    """Search the flights of a day."""
    return {"origin": origin, "destination": destination, "flights": FLIGHTS}


def send_message(to: str, text: str) -> dict[str, Any]:
    """Send a message to a person."""
    SENT.append({"to": to, "text": text})
    return {"to": to, "length": len(text)}


def list_tasks() -> dict[str, Any]:
    """List the tasks of the team."""
    return {"tasks": TASKS}


def list_events() -> dict[str, Any]:
    """List the events of the calendar, in local time."""
    return {"events": EVENTS}


def list_subscriptions() -> dict[str, Any]:
    """List what is paid by the month, with the day of its renewal."""
    return {"subscriptions": SUBSCRIPTIONS}


def list_issues(cursor: str = "c1") -> dict[str, Any]:
    """List the issues of the tracker, page by page."""
    page = int(cursor[1:])
    return {"issues": ISSUES[4 * page - 4 : 4 * page], "next": f"c{page + 1}" if page < 3 else None}


def list_commits(page: int) -> list[dict[str, Any]]:
    """List the commits of the repository: a page has three, the last ones fewer or none."""
    return COMMITS[3 * page - 3 : 3 * page]


def search_papers(query: str, offset: int = 0) -> dict[str, Any]:
    """Search papers: three at a time, from an offset on."""
    return {"query": query, "total": len(PAPERS), "results": PAPERS[offset : offset + 3]}


def list_invoices(after: str = "t0") -> dict[str, Any]:
    """List the invoices, two at a time; `meta.next_token` is empty at the end."""
    at = int(after[1:])
    following = f"t{at + 2}" if at + 2 < len(INVOICES) else ""
    return {"data": {"items": INVOICES[at : at + 2]}, "meta": {"next_token": following}}


def list_reviews() -> dict[str, Any]:
    """List the reviews of a product."""
    return {"reviews": REVIEWS}


def get_log() -> str:
    """Get the log of the server as text."""
    return LOG


def get_config() -> str:
    """Get the configuration of the server as text."""
    return CONFIG


def get_email(number: int) -> str:
    """Get an e-mail as text."""
    return EMAILS[number]


def get_readme() -> str:
    """Get the README of the project, which is Markdown."""
    return README


def get_staff() -> str:
    """Get the staff as CSV."""
    return STAFF_CSV


TOOLS: Mapping[str, tuple[Any, tuple[dict[str, Any], ...]]] = {
    function.__name__: (function, calls)
    for function, *calls in (  # type: ignore[misc]
        (list_orders, {}),
        (list_products, {}),
        (list_customers, {}),
        (list_employees, {}),
        (list_expenses, {}),
        (list_cities, {}),
        (get_weather, {"city": "Oslo"}),
        (get_rate, {"currency": "NOK"}),
        (search_flights, {"origin": "OSL", "destination": "FCO"}),
        (send_message, {"to": "Ann", "text": ""}),
        (list_tasks, {}),
        (list_events, {}),
        (list_subscriptions, {}),
        (list_issues, {}, {"cursor": "c3"}),
        (list_commits,),
        (search_papers,),
        (list_invoices, {}),
        (list_reviews, {}),
        (get_log,),
        (get_config,),
        (get_email,),
        (get_readme,),
        (get_staff,),
    )
}
"""Each tool with the calls whose answers its output schema is drawn from; one without has no output schema."""


def schema_of(values: list[Any]) -> dict[str, Any]:
    """Return a JSON Schema that values fit, closed, as servers write them."""
    kinds = {
        dict: "object",
        list: "array",
        str: "string",
        bool: "boolean",
        int: "integer",
        float: "number",
        type(None): "null",
    }
    types = sorted({kinds[type(value)] for value in values}, key=lambda one: (one == "null", one))
    schema: dict[str, Any] = {"type": types[0] if len(types) == 1 else types}
    objects = [value for value in values if isinstance(value, dict)]
    if objects:
        keys = dict.fromkeys(key for value in objects for key in value)
        schema["properties"] = {key: schema_of([value[key] for value in objects if key in value]) for key in keys}
        schema["required"] = [key for key in keys if all(key in value for value in objects)]
        schema["additionalProperties"] = False
    lists = [value for value in values if isinstance(value, list)]
    if any(lists):
        schema["items"] = schema_of([item for value in lists for item in value])
    return schema


def listed() -> Iterator[dict[str, Any]]:
    """Give each tool as a server lists it."""
    types = {"str": "string", "int": "integer", "str | None": "string"}
    for name, (function, calls) in TOOLS.items():
        given = {key: kind for key, kind in function.__annotations__.items() if key != "return"}
        optional = len(function.__defaults__ or ())
        schema = {
            "type": "object",
            "properties": {key: {"type": types[kind]} for key, kind in given.items()},
            "required": list(given)[: len(given) - optional],
            "additionalProperties": False,
        }
        hints = {"readOnlyHint": name != "send_message", "destructiveHint": False}
        tool = {"name": name, "description": function.__doc__, "inputSchema": schema, "annotations": hints}
        if calls:
            tool["outputSchema"] = schema_of([function(**call) for call in calls])
            SENT.clear()
        yield tool
