"""Expressions in a primitive of one's own: their evaluation and typing; imported within functions, being heavy."""

from __future__ import annotations

from infospace.contract.arguments import BoundExpression
from infospace.expressions import Evaluation, ItemMismatches, Nothing, Refusing, TypeMismatches
from infospace.expressions.types import Typer

__all__ = [
    "BoundExpression",
    "Evaluation",
    "ItemMismatches",
    "Nothing",
    "Refusing",
    "TypeMismatches",
    "Typer",
]
