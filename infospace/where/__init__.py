"""`where`: a boolean expression of SQL over the content of resources, and its one evaluator.

Names are read as `infospace.data.paths` has them, `$x` is a parameter. Logic is SQL's, of three values: what is
null or missing compares as unknown. Nothing is converted: values of different types compare as unknown too,
and are counted.
"""

from infospace.where.compare import TypeMismatches
from infospace.where.where import Where, parse_where

__all__ = ["TypeMismatches", "Where", "parse_where"]
