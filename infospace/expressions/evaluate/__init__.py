"""Expressions as closures, one for each: the evaluator."""

from infospace.expressions.evaluate.arithmetic import OPERATIONS as OPERATIONS
from infospace.expressions.evaluate.closures import ConditionEvaluator as ConditionEvaluator
from infospace.expressions.evaluate.closures import Getter as Getter
from infospace.expressions.evaluate.compiler import Compiler as Compiler
from infospace.expressions.evaluate.compiler import compile_condition as compile_condition
from infospace.expressions.evaluate.compiler import compile_expression as compile_expression
