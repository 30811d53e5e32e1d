"""A `where` ready to be asked of resources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from infospace.core.json_types import JSON
from infospace.data.paths import Path, Readable
from infospace.where.ast import Condition, Field, Parameter
from infospace.where.compare import TypeMismatches, Verdict
from infospace.where.evaluate import Judge, compile_condition


@dataclass(frozen=True, slots=True)
class Where:
    """A boolean expression over resources, as `parse_where` reads it.

    `paths` are what it reads, each once, in order; `parameters` the references it takes values for, as
    written without `$` (`hits[0].metadata.score`); `tree` what it says.
    """

    text: str
    paths: tuple[Path, ...]
    parameters: tuple[str, ...]
    tree: Condition = field(repr=False)
    _judge: Judge = field(repr=False, compare=False)

    def match(self, resource: Readable, parameters: Mapping[str, JSON], tally: TypeMismatches | None = None) -> Verdict:
        """Judge one resource: True, False, or None for unknown (which selects nothing).

        `tally` counts the comparisons of different types that were made; AND and OR stop as soon as they are
        decided. Raises `Missing` for a parameter without a value, `Invalid` for one that is no LIKE pattern.
        """
        return self._judge(resource, parameters, TypeMismatches() if tally is None else tally)


@lru_cache(maxsize=256)
def parse_where(text: str) -> Where:
    """Read a `where`; raises `WhereInvalid`: what was found, at which character, and what is allowed."""
    from infospace.where.parse import parse

    tree, words = parse(text)
    values = [word.value for word in words]
    paths = dict.fromkeys(value.path for value in values if isinstance(value, Field))
    parameters = dict.fromkeys(value.name for value in values if isinstance(value, Parameter))
    return Where(text, tuple(paths), tuple(parameters), tree, compile_condition(tree))
