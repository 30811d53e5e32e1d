"""Words without parentheses belong together as they do in DuckDB's SQL."""

from __future__ import annotations

import os
import random

import duckdb

from infospace import Note
from infospace.expressions import Evaluation, TypeMismatches, parse_expression

PROVE = os.environ.get("INFOSPACE_PROVE") == "1"
HOW_MANY, AT_ONCE = (20_000 if PROVE else 400), 40
ROWS = [
    {"n": 7, "m": -3, "s": "a", "p": True, "q": False},
    {"n": None, "m": 2, "s": "", "p": None, "q": True},
    {"n": 0, "m": 5, "s": None, "p": False, "q": None},
    {"n": -4, "m": None, "s": "7", "p": True, "q": True},
]


class Text:
    """Draws texts that both read, without a parenthesis but for those of IN."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311

    def number(self, signs: str = "+-*%/") -> str:
        chance = self.chance
        written = chance.choice(("n", "m", "2", "7", "-3", "- n", "- m"))
        for _ in range(chance.randint(0, 3)):
            sign = chance.choice(signs)
            written += f" {sign} {chance.choice(('3', '5', '- 2') if sign in '%/' else ('n', 'm', '4', '- m', '-1'))}"
        return written

    def text(self) -> str:
        parts = [self.chance.choice(("s", "'x'", self.number("+-*%"))) for _ in range(self.chance.randint(1, 2))]
        return " || ".join([self.chance.choice(("s", "'y'")), *parts])

    def comparison(self) -> str:
        chance, word = self.chance, self.chance.choice(("", "NOT "))
        number, sign = self.number, chance.choice(("=", "!=", "<>", "<", "<=", ">", ">="))
        return chance.choice(
            (
                f"{number()} {sign} {number()}",
                f"{self.text()} {sign} {self.text()}",
                f"{number()} {word}BETWEEN {number()} AND {number()}",
                f"{number()} {word}IN ({number()}, {number()})",
                f"{chance.choice('nmspq')} IS {word}NULL",
                chance.choice("pq"),
            )
        )

    def condition(self) -> str:
        chance = self.chance
        written = chance.choice(("", "NOT ", "NOT NOT ")) + self.comparison()
        for _ in range(chance.randint(0, 3)):
            written += f" {chance.choice(('AND', 'OR', 'and'))} {chance.choice(('', '', 'NOT '))}{self.comparison()}"
        return written

    def any(self) -> str:
        chance = self.chance
        case = f"CASE WHEN {self.condition()} THEN {self.number()} ELSE {self.number()} END + {self.number()}"
        return chance.choice((self.number(), self.text(), self.condition(), self.condition(), case))


def test_what_stands_without_parentheses_belongs_together_as_in_sql() -> None:
    """Minus, then `* / %`, `+ -`, `||`, comparisons, NOT, AND, OR; a row of one kind from the left."""
    engine, text = duckdb.connect(), Text(5)
    engine.execute("CREATE TABLE t (i INTEGER, n BIGINT, m BIGINT, s VARCHAR, p BOOLEAN, q BOOLEAN)")
    engine.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)", [[i, *row.values()] for i, row in enumerate(ROWS)])
    for _ in range(HOW_MANY // AT_ONCE):
        texts = [text.any() for _ in range(AT_ONCE)]
        found = engine.execute(f"SELECT {', '.join(texts)} FROM t ORDER BY i").fetchall()  # noqa: S608
        for row, theirs in zip(ROWS, found, strict=True):
            for written, other in zip(texts, theirs, strict=True):
                tally = TypeMismatches()
                ours = parse_expression(written).get(Note(id="Note_1", content=row), Evaluation({}, tally))
                assert (ours, isinstance(ours, bool), tally.mismatches) == (other, isinstance(other, bool), 0), (
                    f"{written}\n  gives {ours!r}\n  DuckDB {other!r}\n  of {row}"
                )
