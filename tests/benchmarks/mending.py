"""What becomes of wrong plans by the fixes that are offered: right, changed in meaning, not fixed.

Each mended plan is run beside the plan that was meant, against a server that writes its calls down. With a data folder
mistakes of each kind are planted into public plans (NESTFUL, NesTools); those in the words of other systems are ours.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from figures import Table

sys.path.insert(0, str(Path(__file__).parents[1] / "mending"))
from desk import MEANT, TOOLS
from dialects import GUESSES, cases
from gold import Gold, read_gold
from judge import Workshop
from planted import GUESSES as GUESSED
from planted import MENDED, planted

EACH = 30
"""Mistakes of a kind that are planted, at most."""
VERDICTS = ("right", "changed", "not fixed", "passes")


def run(data: Path | None = None) -> dict[str, Table]:
    """Return the tables: by system of those that are ours, by kind of those that are planted."""
    tables = {"mending": _ours()}
    gold = Gold() if data is None else read_gold(data)
    if gold.plans:
        tables["planted"] = _planted(gold)
    return tables


def _ours() -> Table:
    found: dict[str, Counter[str]] = {}
    with TemporaryDirectory(prefix="infospace-mending-") as folder:
        shop = Workshop(Path(folder), TOOLS, "desk")
        for system, name, wrong in cases():
            found.setdefault(system.replace("_", " "), Counter())[shop.judge(wrong, MEANT[name])] += 1
        for kind, wrong in GUESSES:
            found.setdefault(f"guess: {kind}", Counter())[_guess(shop, wrong)] += 1
        shop.close()
    return _table(found)


def _planted(gold: Gold) -> Table:
    found: dict[str, Counter[str]] = {}
    with TemporaryDirectory(prefix="infospace-mending-") as folder:
        shop = Workshop(Path(folder), list(gold.tools.values()))
        good = {name: plan for name, plan in gold.plans.items() if not shop.errors(plan)}
        for kind in (*MENDED, *GUESSED):
            row = found.setdefault(
                kind.replace("_", " ") if kind in MENDED else f"guess: {kind.replace('_', ' ')}", Counter()
            )
            for name, wrong in planted(kind, good, gold.tools, EACH):
                row[shop.judge(wrong, good[name]) if kind in MENDED else _guess(shop, wrong)] += 1
        shop.close()
    return _table(found)


def _guess(shop: Workshop, wrong: Any) -> str:
    """Of a guess nobody knows what was meant: to pass is to be changed."""
    return "changed" if shop.mend(wrong)[1] else "not fixed"


def _table(found: Mapping[str, Counter[str]]) -> Table:
    """A row for each kind, and sums of those that were meant to be something, and of the guesses."""
    plain = [row for kind, row in found.items() if not kind.startswith("guess: ")]
    guesses = [row for kind, row in found.items() if kind.startswith("guess: ")]
    rows = {**found, "all": _sum(plain), "all guesses": _sum(guesses)}
    return {kind: {verdict: float(row[verdict]) for verdict in VERDICTS} for kind, row in rows.items()}


def _sum(rows: Sequence[Counter[str]]) -> Counter[str]:
    return sum(rows, Counter())
