"""Expressions: SQL's scalar expressions over the content of resources, one parser, one typing, one evaluator.

`parse_expression`, `parse_condition`, `parse_where`, `parse_sort_key` and `aggregates.parse_aggregate` read a text;
what they give is frozen, kept, and evaluated of one resource after another with an `Evaluation` (the values of its
`$parameters`, what becomes of a mismatch, the clock). `types.Typer` says what a tree gives and what in it can have
no result. Names are read as `infospace.data.paths` has them. Logic is SQL's, of three values: null and missing
compare as unknown. Nothing is converted.
"""

from infospace.expressions.expression import (
    EmptyRecord,
    Formula,
    SortKey,
    Where,
    parameters_in,
    parse_condition,
    parse_expression,
    parse_path_or_expression,
    parse_sort_key,
    parse_where,
)
from infospace.expressions.mismatch import Clock, Evaluation, ItemMismatches, Mismatch, Refusing, TypeMismatches

__all__ = [
    "Clock",
    "EmptyRecord",
    "Evaluation",
    "Formula",
    "ItemMismatches",
    "Mismatch",
    "Refusing",
    "SortKey",
    "TypeMismatches",
    "Where",
    "parameters_in",
    "parse_condition",
    "parse_expression",
    "parse_path_or_expression",
    "parse_sort_key",
    "parse_where",
]
