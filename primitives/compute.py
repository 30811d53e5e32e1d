"""`compute`: the value of an expression over variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from infospace import Args, Context, Expression, Note, primitive
from infospace.authoring.shapes import NO_METADATA, NoteShape, Shape


class Compute(Args):
    """Arguments of `compute`."""

    expression: Expression = Field(
        description="An expression of SQL over `$variables`: `round($spent * 1.19, 2)`, `days(today(), $due)`."
    )
    mismatch: Literal["fail", "null"] = Field(
        "fail", description="What becomes of a wrong type, a division by zero, a failed CAST: the step fails, or null."
    )


def _result_shape(arguments: Mapping[str, Any], _shapes: Mapping[str, Shape]) -> Shape:
    from infospace.authoring.expressions import BoundExpression, Typer

    bound = arguments.get("expression")
    if not isinstance(bound, BoundExpression):
        return NoteShape(None, NO_METADATA)
    typer = Typer(lambda _path: None, bound.schemas.get)
    return NoteShape(typer.schema(bound.formula.tree), NO_METADATA)


@primitive(
    effect="pure",
    result_shape=_result_shape,
    formerly=["evaluate", "calculate"],
    failures=[
        "`expression` is not of the language: one sentence says what, and where in it.",
        "An operation has no result for its values: a wrong type, a division by zero, a failed CAST.",
        "A `$variable` has not the place that is read, but in `coalesce`, IS NULL and IS NOT NULL.",
    ],
    examples=[
        {"type": "compute", "expression": "round($spent * 1.19, 2)", "out": "$gross"},
        {"type": "compute", "expression": "CASE WHEN $n > 10 THEN 'many' ELSE 'few' END", "out": "$word"},
        {"type": "compute", "expression": "days(today(), $task.due)", "out": "$left"},
    ],
    avoid=["Computing a value of each item: `project` with `keep` does that for all of them at once."],
)
async def compute(args: Compute, context: Context) -> Note:
    """Compute one value.

    Null gives null, but for `coalesce`, `concat_ws`, CASE and the like. Nothing is converted: CAST and TRY_CAST do
    that. Whole numbers stay whole and exact. `today()` and `now()` are those of the run. With `mismatch` `null` an
    operation without a result is null: counted in `extra.mismatches`, and told in the answer's text.
    """
    from infospace.authoring.expressions import EmptyRecord, Refusing, TypeMismatches

    tally = Refusing() if args.mismatch == "fail" else TypeMismatches()
    value = args.expression.formula.get(EmptyRecord(), args.expression.evaluation(tally, context.clock))
    if args.mismatch == "null":
        context.extra["mismatches"] = tally.mismatches
        context.remark(str(tally))
    return context.note(value)
