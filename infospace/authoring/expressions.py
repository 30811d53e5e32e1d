"""Expressions in a primitive of one's own: their evaluation and typing; imported within functions, being heavy."""

from __future__ import annotations

from infospace.contract.arguments import BoundExpression
from infospace.expressions import EmptyRecord, Evaluation, ItemMismatches, Mismatch, Refusing, TypeMismatches
from infospace.expressions.columns import Chosen, contents_of
from infospace.expressions.expression import absent_paths, evaluate_each, keys_of, values_at
from infospace.expressions.types import Typer

__all__ = [
    "BoundExpression",
    "Chosen",
    "EmptyRecord",
    "Evaluation",
    "ItemMismatches",
    "Mismatch",
    "Refusing",
    "TypeMismatches",
    "Typer",
    "absent_paths",
    "contents_of",
    "evaluate_each",
    "keys_of",
    "values_at",
]
