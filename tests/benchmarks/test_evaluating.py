"""What the benchmark of expressions evaluates is what it does by hand."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from evaluating import BY_HAND, made_items

from infospace.expressions import Evaluation, Refusing, parse_expression


@pytest.mark.parametrize("text", BY_HAND)
def test_both_give_the_same(text: str) -> None:
    """Of each item, but that by hand the double is rounded, and not what is written."""
    assert len(BY_HAND) == 10
    get = parse_expression(text).get
    for item in made_items(300):
        ours, theirs = get(item, Evaluation({"least": 10}, Refusing())), BY_HAND[text](item.content)  # type: ignore[arg-type]
        assert ours == (pytest.approx(theirs, abs=0.011) if isinstance(theirs, float) else theirs)
