"""What the closures of expressions take and give.

A closure takes the resource and the `Evaluation`, and gives a JSON value; null, missing and unknown are None. An
operation that has no result for its values says so to the tally, which raises or counts; counted, it is null.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from infospace.core.json_types import JSON
from infospace.data.paths import Readable
from infospace.expressions.compare import Verdict
from infospace.expressions.mismatch import Evaluation

Getter: TypeAlias = Callable[[Readable, Evaluation], JSON]
"""Gives a value."""
ConditionEvaluator: TypeAlias = Callable[[Readable, Evaluation], Verdict]
"""Gives true, false or, as None, unknown."""
