"""What an expression costs: microseconds an item to evaluate it, and to read it once, of ten that are typical.

Beside it stands the same in plain Python, by hand, for values that are there and of the right type.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

from figures import Call, Table, interleaved, spread

from infospace import Note
from infospace.expressions import Evaluation, TypeMismatches, parse_expression
from infospace.expressions.parse import parse

TURNS = 15
ITEMS = 2_000
READINGS = 20
Content = dict[str, Any]


def _days(content: Content) -> int:
    return (date.fromisoformat(content["due"]) - date.fromisoformat("2026-01-01")).days


BY_HAND: dict[str, Callable[[Content], object]] = {
    "status = 'open'": lambda c: c["status"] == "open",
    "price > $least AND stock > 0": lambda c: c["price"] > 10 and c["stock"] > 0,
    "status IN ('open', 'late') OR NOT done": lambda c: c["status"] in ("open", "late") or not c["done"],
    "title LIKE '%report%'": lambda c: "report" in c["title"].casefold(),
    "round(price * stock * 1.19, 2)": lambda c: round(c["price"] * c["stock"] * 1.19, 2),
    "CASE WHEN stock = 0 THEN 'none' WHEN stock < 10 THEN 'few' ELSE 'many' END": lambda c: (
        "none" if c["stock"] == 0 else "few" if c["stock"] < 10 else "many"
    ),
    "coalesce(metadata.score, 0) * 100": lambda c: (c["metadata"].get("score") or 0) * 100,
    "upper(status) || ': ' || title": lambda c: c["status"].upper() + ": " + c["title"],
    "days('2026-01-01', due)": _days,
    "CAST(code AS integer) % 7": lambda c: int(c["code"]) % 7,
}
"""Expressions, and the same by hand."""


def made_items(count: int) -> list[Note]:
    """Make items such as a list of goods has them."""
    states = ("open", "late", "closed")
    return [
        Note(
            id=f"Note_{number}",
            content={
                "title": f"Quarterly Report {number}" if number % 3 else f"Letter {number}",
                "status": states[number % 3],
                "price": 0.5 + number % 97,
                "stock": number % 23,
                "done": number % 2 == 0,
                "due": f"2026-{number % 12 + 1:02}-{number % 28 + 1:02}",
                "code": f"{number:05}",
                "metadata": {"score": number / 7} if number % 5 else {},
            },
        )
        for number in range(count)
    ]


def run() -> dict[str, Table]:
    """Return the table `evaluating`: microseconds an item, and a reading."""
    items = made_items(ITEMS)
    calls: dict[str, Call] = {}
    for text, by_hand in BY_HAND.items():
        calls[text] = _evaluating(text, items)
        calls[f"{text} by hand"] = _by_hand(by_hand, items)
        calls[f"{text} read"] = _reading(text)
    times = interleaved(calls, TURNS)

    def cell(name: str, count: int) -> Any:
        return spread([1000 * time / count for time in times[name]])

    return {
        "evaluating": {
            text: {
                "an item": cell(text, ITEMS),
                "by hand in Python": cell(f"{text} by hand", ITEMS),
                "reading it": cell(f"{text} read", READINGS),
            }
            for text in BY_HAND
        }
    }


def _evaluating(text: str, items: list[Note]) -> Call:
    get = parse_expression(text).get
    given = Evaluation({"least": 10}, TypeMismatches())

    def evaluate(_turn: int) -> None:
        for item in items:
            get(item, given)

    return evaluate


def _by_hand(compute: Callable[[Content], object], items: list[Note]) -> Call:
    contents: list[Any] = [item.content for item in items]

    def evaluate(_turn: int) -> None:
        for content in contents:
            compute(content)

    return evaluate


def _reading(text: str) -> Call:
    def read(_turn: int) -> None:
        for _ in range(READINGS):
            parse(text)

    return read
