"""`where`: a boolean expression of SQL over the content of resources, and its one evaluator.

Names are read as `infospace.paths` has them, `$x` is a parameter. Logic is SQL's, of three values: what is
null or missing compares as unknown. Nothing is converted: values of different types compare as unknown too,
and are counted.
"""

from infospace.where.expression import Where, parse_where
from infospace.where.values import Tally

__all__ = ["Tally", "Where", "parse_where"]
