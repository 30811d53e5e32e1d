"""Kinds of faults that mutmut does not plant by itself: a guard that is dropped, an `await` that is missing, no order.

Each function takes a node of libcst's tree, and yields what is put in its place, one at a time.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
import libcst.matchers as m
from mutmut.mutation.mutators import mutation_operators

_LEAVES = m.Return() | m.Raise() | m.Continue() | m.Break()


def install() -> None:
    """Have mutmut plant these, too."""
    mutation_operators.extend(  # type: ignore[attr-defined]
        [(cst.If, drop_guard), (cst.Await, drop_await), (cst.Call, drop_order), (cst.Comparison, drop_chain)]
    )


def drop_guard(node: cst.If) -> Iterator[cst.If]:
    """A guard, which leaves the block, never holds; what is done on a condition alone is done in any case."""
    test = node.test.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    if node.orelse is None and isinstance(node.body, cst.IndentedBlock):
        leaves = m.matches(node.body.body[-1], m.SimpleStatementLine(body=[m.ZeroOrMore(), _LEAVES]))
        operator, word = (cst.And(), "False") if leaves else (cst.Or(), "True")
        yield node.with_changes(test=cst.BooleanOperation(left=test, operator=operator, right=cst.Name(word)))


def drop_await(node: cst.Await) -> Iterator[cst.BaseExpression]:
    """What is awaited is only begun."""
    yield node.expression.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def drop_order(node: cst.Call) -> Iterator[cst.BaseExpression]:
    """What is sorted or reversed stays as it comes; the first of equals is the last."""
    if m.matches(node.func, m.Name("sorted") | m.Name("reversed")) and node.args and not node.args[0].star:
        yield cst.Call(cst.Name("list"), [cst.Arg(node.args[0].value)])
    if m.matches(node.func, m.Name("min") | m.Name("max")) and len(node.args) > 1:
        other = "max" if m.matches(node.func, m.Name("min")) else "min"
        yield node.with_changes(func=cst.Name(other))


def drop_chain(node: cst.Comparison) -> Iterator[cst.Comparison]:
    """Of `a < b < c` one half holds alone."""
    if len(node.comparisons) > 1:
        first, *rest = node.comparisons
        yield node.with_changes(comparisons=[first])
        yield node.with_changes(left=first.comparator, comparisons=rest)
