"""Products of vectors: none that spreads over threads, which wait for each other where the cores are busy."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import infospace

SPREAD = {"dot", "matmul", "inner", "tensordot", "einsum", "multi_dot", "vdot"}
"""What NumPy gives to BLAS whole, or may; `vecdot` gives it a row at a time."""

PLACES = sorted(Path(infospace.__file__).parent.rglob("*.py"))


def spread(source: str) -> list[int]:
    """The lines of a module in which a product stands that BLAS may spread over threads."""
    found = []
    for node in ast.walk(ast.parse(source)):
        operator = isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult)
        named = isinstance(node, ast.Attribute) and node.attr in SPREAD
        if operator or named:
            found.append(node.lineno)
    return found


def test_no_product_spreads_over_threads() -> None:
    """Two threads of BLAS, each waiting at full speed for the other, take minutes for seconds on a busy machine."""
    assert len(PLACES) > 50
    found = {path.name: lines for path in PLACES if (lines := spread(path.read_text(encoding="utf-8")))}
    assert found == {}


@pytest.mark.parametrize("source", ["a @ b", "a @= b", "np.dot(a, b)", "a.dot(b)", "np.linalg.multi_dot([a, b])"])
def test_a_product_that_might_is_seen(source: str) -> None:
    """As an operator, a function or a method; and what goes row by row is not."""
    assert spread(source) == [1]
    assert spread("np.vecdot(a, b)\n@decorated\ndef f() -> None: ...") == []
