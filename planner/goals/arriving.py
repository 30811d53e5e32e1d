"""The plan in an answer of a language model that is still arriving: what is there of it, as a document."""

from __future__ import annotations

from json import JSONDecodeError, JSONDecoder

from pydantic_core import from_json

from infospace.core.json_types import JSON
from planner.goals.reply import OPENING, THOUGHTS, plan_in

_DECODER = JSONDecoder()
TRIED = 20
"""Places of an answer where a plan may begin that are tried."""


def arriving_plan(answer: str) -> JSON:
    """Return the plan as far as an answer has it, with what is open closed; None before any of it is there.

    Of thoughts and fences around it nothing counts, and of several values the last that is a plan, or may become one.
    """
    text, result, end = THOUGHTS.sub("", answer), None, 0
    for _ in range(TRIED):
        begun = OPENING.search(text, end)
        if begun is None:
            break
        start = begun.start()
        try:
            value, end = _DECODER.raw_decode(text, start)
        except JSONDecodeError:
            value, end = _partial(text[start:]), start + 1
            if value is None:
                continue
            return _as_plan(value) or result
        except RecursionError:
            break
        result = _as_plan(value) or result
    return result


def _partial(text: str) -> JSON:
    """Return the value that a text begins; None where no more of it makes one.

    A surrogate whose other half is still to come, or never comes, is a question mark.
    """
    try:
        value: JSON = from_json(text.encode("utf-8", "replace"), allow_partial="trailing-strings")
    except ValueError:
        return None
    return value


def _as_plan(value: JSON) -> JSON:
    """Return the plan that a value is or holds; an object may become one as long as it has no steps."""
    return plan_in(value) or (value if isinstance(value, dict) and value else None)
