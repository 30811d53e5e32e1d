"""Whether what one schema admits can be given where another is wanted: a score from 0 to 1, and the reason.

1 means that every value of the one fits the other, as a validator sees it; 0 that none does which says anything (an
empty list, of items that do not fit, says nothing). Between them stands what may fit: the more of the places that
are wanted surely fit, the higher. A `format` that is wanted and not promised, which no validator insists on, lowers
the score too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from infospace.core.plural import pluralize
from infospace.core.regex import compile_pattern
from infospace.data.json_text import dump, same
from infospace.schema.normal_form import Alternative, NormalSchema, normal_form
from infospace.schema.value_text import either, shown

PAIRS = 5_000
"""Pairs of parts that are compared; what is left of two schemas may then fit."""
UNTOLD: Final = 0.3
"""Score where nothing is said of what is given."""
PERHAPS: Final = 0.6
"""Score of a value that fits only if it happens to."""
UNPROMISED: Final = 0.8
"""Score of text of any form where one of a format is meant."""
_NOUNS: Final = {
    "null": "null",
    "boolean": "true or false",
    "number": "a number",
    "string": "text",
    "array": "a list",
    "object": "an object",
}


@dataclass(frozen=True, slots=True)
class Compatibility:
    """How well one schema fits another: 1 always, 0 never; and in one sentence why."""

    score: float
    reason: str

    @property
    def always(self) -> bool:
        """Whether every value fits."""
        return self.score == 1


@dataclass(frozen=True, slots=True)
class _Fit:
    """How well a place fits, and what is said of the place that fits least: without its subject."""

    score: float
    message: str = ""
    place: tuple[str, ...] = ()

    def within(self, part: str) -> _Fit:
        return _Fit(self.score, self.message, (part, *self.place))


_FITS: Final = _Fit(1.0)


def compatibility(values: Mapping[str, Any] | None, expected: Mapping[str, Any] | None) -> Compatibility:
    """Say how well what one schema admits fits another. None is a schema of which nothing is known."""
    if not expected:
        return Compatibility(1.0, "anything is taken")
    if values is not None and dump(values) == dump(expected):
        return Compatibility(1.0, "both schemas are the same")
    return compatibility_of(normal_form(values), normal_form(expected))


def compatibility_of(actual: NormalSchema, expected: NormalSchema) -> Compatibility:
    """Say the same of schemas in normal form, which may be parts of others."""
    fit = _Comparison().compare(actual, expected)
    if fit.score == 1:
        return Compatibility(1.0, "every value that is given fits what is wanted")
    subject = " of ".join([*reversed(fit.place), "what is given"])
    return Compatibility(round(fit.score, 4), f"{subject} {fit.message}")


class _Comparison:
    """Compares normal forms. A pair that is being compared fits where it is met again inside of itself."""

    def __init__(self) -> None:
        self._left = PAIRS
        # The schemas are kept with what was found, so that the ids in their keys stay theirs.
        self._known: dict[tuple[Any, Any], tuple[NormalSchema, NormalSchema, _Fit]] = {}

    def compare(self, actual: NormalSchema, expected: NormalSchema) -> _Fit:
        if expected.is_any:
            return _FITS
        key = actual.key, expected.key
        if key in self._known:
            return self._known[key][2]
        self._left -= 1
        if self._left < 0:
            return _Fit(PERHAPS, "is too large to be compared with what is wanted")
        self._known[key] = actual, expected, _FITS
        fit = self._alternatives(actual, expected)
        self._known[key] = actual, expected, fit
        return fit

    def _alternatives(self, actual: NormalSchema, expected: NormalSchema) -> _Fit:
        may_be, fits = actual.alternatives, expected.alternatives
        if not may_be:
            return _FITS
        if not fits:
            return _Fit(0.0, "may not be there")
        if actual.is_any:
            return _Fit(UNTOLD, f"is not described, and {_words(fits)} is wanted")
        results = [self._one(alternative, fits) for alternative in may_be]
        worst = min(results, key=lambda fit: fit.score)
        if worst.score == 1:
            return _FITS
        mean = sum(fit.score for fit in results) / len(results)
        return _Fit(min(mean, 0.99), worst.message, worst.place)

    def _one(self, actual: Alternative, fits: Iterable[Alternative]) -> _Fit:
        """How well an alternative fits whichever it fits best."""
        alike = [self._pair(actual, alternative) for alternative in fits if alternative.type == actual.type]
        if not alike:
            return _Fit(0.0, f"is {_word(actual)}, and {_words(fits)} is wanted")
        return max(alike, key=lambda fit: (fit.score, len(fit.place)))

    def _pair(self, actual: Alternative, expected: Alternative) -> _Fit:
        if actual.values is not None:
            fit = _values(actual, expected)
        elif expected.values is not None and not (actual.type == "null" or _all_truths(actual, expected)):
            fit = _Fit(PERHAPS, f"is {_word(actual)}, and {_word(expected)} is wanted")
        else:
            fit = self._by_type(actual, expected)
        unmet = [
            restriction
            for restriction in expected.restrictions
            if not restriction[2] or restriction not in actual.restrictions
        ]
        if fit.score == 1 and unmet:
            return _Fit(0.9, f"may break `{unmet[0][0]}` of what is wanted")
        return fit

    def _by_type(self, actual: Alternative, expected: Alternative) -> _Fit:
        match actual.type:
            case "number":
                return _numbers(actual, expected)
            case "string":
                return _texts(actual, expected)
            case "array":
                return self._lists(actual, expected)
            case "object":
                return self._objects(actual, expected)
        return _FITS

    def _lists(self, actual: Alternative, expected: Alternative) -> _Fit:
        bounds = _bounded(actual, expected, "minItems", "maxItems", "item")
        if bounds.score == 0:
            return bounds
        first, most = max(actual.first, expected.first), actual.most("maxItems")
        if most is not None:
            first = min(first, most)
        places: list[_Fit] = []
        for at in range(first):
            item = self.compare(actual.at_place(at), expected.at_place(at)).within(f"item {at + 1}")
            places.append(item)
        if most is None or most > first:
            places.append(self.compare(actual.at_place(first), expected.at_place(first)).within("each item"))
        if any(expected.all("uniqueItems")) and not any(actual.all("uniqueItems")) and (most is None or most > 1):
            bounds = _worse(bounds, _Fit(0.9, "may have an item twice"))
        return _together(places, bounds)

    def _objects(self, actual: Alternative, expected: Alternative) -> _Fit:
        bounds = _bounded(actual, expected, "minProperties", "maxProperties", "key")
        if bounds.score == 0:
            return bounds
        needed, sure = expected.required, actual.required
        results = []
        for name in dict.fromkeys((*actual.names, *sorted(sure), *expected.names, *sorted(needed))):
            fit = self._key(name, actual, expected)
            if fit is not None:
                results.append(fit)
        rest = self.compare(actual.others(), expected.others())
        if actual.has_patterns and not expected.others().is_any:
            rest = _worse(rest, _Fit(0.9, "may be of a pattern and not fit"))
        if rest.score < 1:
            # Keys of which nothing is said need not be there: they cost little, unless nothing else is said at all.
            share = 0.95 if actual.names else PERHAPS
            bounds = _worse(bounds, _Fit(share, f"may have other keys, one of which {rest.message}"))
        return _together(results, bounds)

    def _key(self, name: str, actual: Alternative, expected: Alternative) -> _Fit | None:
        """How well one key fits, None where it cannot be there and need not."""
        has = actual.at_key(name)
        needed, sure = name in expected.required, name in actual.required
        if not has.is_any and not has.alternatives:
            return _Fit(0.0, f"has no {dump(name)}, which is needed") if needed else None
        fit = self.compare(has, expected.at_key(name)).within(f"`{name}`")
        if sure:
            return fit
        if needed:
            score = PERHAPS if name in actual.names else UNTOLD
            return (
                _Fit(min(fit.score, score), fit.message, fit.place)
                if fit.score < score
                else _Fit(score, f"need not have {dump(name)}, which is needed")
            )
        # It need not be there, and then nothing is wrong.
        return fit if fit.score == 1 else _Fit(max(fit.score, PERHAPS), fit.message, fit.place)


def _together(places: list[_Fit], bounds: _Fit) -> _Fit:
    """Join how well the parts fit; one that never does spoils all."""
    every = [*places, bounds]
    worst = min(every, key=lambda fit: fit.score)
    if worst.score in (0, 1):
        return worst
    mean = sum(fit.score for fit in places) / len(places) if places else 1.0
    return _Fit(min(mean * bounds.score, 0.99), worst.message, worst.place)


def _worse(one: _Fit, other: _Fit) -> _Fit:
    return min(one, other, key=lambda fit: fit.score)


def _bounded(actual: Alternative, expected: Alternative, low: str, high: str, what: str) -> _Fit:
    """How well the size of something fits."""
    least, most = actual.least(low) or 0, actual.most(high)
    wants, takes = expected.least(low) or 0, expected.most(high)
    if most is not None and most < wants:
        return _Fit(0.0, f"has at most {pluralize(most, what)}, and {wants:,} are needed")
    if takes is not None and least > takes:
        return _Fit(0.0, f"has {pluralize(least, what)} or more, and at most {takes:,} are taken")
    if least < wants:
        return _Fit(0.9, f"may have fewer than {pluralize(wants, what)}")
    if takes is not None and (most is None or most > takes):
        return _Fit(0.9, f"may have more than {pluralize(takes, what)}")
    return _FITS


def _numbers(actual: Alternative, expected: Alternative) -> _Fit:
    low, above = actual.least("minimum"), actual.least("exclusiveMinimum")
    high, below = actual.most("maximum"), actual.most("exclusiveMaximum")
    lowest, highest = max(_without_none(low, above), default=None), min(_without_none(high, below), default=None)
    for bound in _without_none(expected.least("minimum"), expected.least("exclusiveMinimum")):
        if highest is not None and highest < bound:
            return _Fit(0.0, f"is at most {highest:g}, and {bound:g} or more is wanted")
    for bound in _without_none(expected.most("maximum"), expected.most("exclusiveMaximum")):
        if lowest is not None and lowest > bound:
            return _Fit(0.0, f"is at least {lowest:g}, and {bound:g} or less is wanted")
    if expected.whole and not actual.whole:
        return _Fit(0.8, "is any number, and a whole one is wanted")
    if not _in_bounds(lowest, above, highest, below, expected):
        return _Fit(0.9, "may be beyond the bounds of what is wanted")
    steps = [Fraction(str(step)) for step in actual.all("multipleOf")] + ([Fraction(1)] if actual.whole else [])
    for step in expected.all("multipleOf"):
        if not any((own / Fraction(str(step))).denominator == 1 for own in steps):
            return _Fit(0.8, f"may be no multiple of {step:g}")
    return _FITS


def _without_none(*bounds: Any) -> list[Any]:
    return [bound for bound in bounds if bound is not None]


def _in_bounds(lowest: Any, above: Any, highest: Any, below: Any, expected: Alternative) -> bool:
    """Whether every number between some bounds is within those that are wanted."""
    least, more = expected.least("minimum"), expected.least("exclusiveMinimum")
    most, less = expected.most("maximum"), expected.most("exclusiveMaximum")
    return (
        (least is None or (lowest is not None and lowest >= least))
        and (more is None or (lowest is not None and (lowest > more or (above is not None and above >= more))))
        and (most is None or (highest is not None and highest <= most))
        and (less is None or (highest is not None and (highest < less or (below is not None and below <= less))))
    )


def _texts(actual: Alternative, expected: Alternative) -> _Fit:
    fit = _bounded(actual, expected, "minLength", "maxLength", "character")
    if fit.score == 0:
        return fit
    for pattern in expected.all("pattern"):
        if pattern not in actual.all("pattern"):
            fit = _worse(fit, _Fit(UNPROMISED, f"may not match the pattern {pattern!r:.60}"))
    for format_ in expected.all("format"):
        own = actual.all("format")
        if own and format_ not in own:
            fit = _worse(fit, _Fit(UNTOLD, f"is text of the format {own[0]!r:.40}, and {format_!r:.40} is wanted"))
        elif not own:
            fit = _worse(fit, _Fit(UNPROMISED, f"is any text, and the format {format_!r:.40} is wanted"))
    return fit


def _values(actual: Alternative, expected: Alternative) -> _Fit:
    """How many of the values that are named fit."""
    values = actual.values or ()
    wrong = [value for value in values if not _admits(expected, value)]
    # Restrictions of what is wanted are looked at by who asks; what is named and fits none of the rest fits never.
    if not wrong:
        return _FITS
    kind = _word(expected)
    # Of what is wanted by bounds or a pattern, and not by values, the kind alone would name what is given, too.
    if expected.values is None and (not expected.whole or all(map(_is_whole, wrong))):
        kind = {"text": "other text"}.get(kind, f"another{kind.removeprefix('a')}")
    return _Fit((len(values) - len(wrong)) / len(values), f"is {_listed(wrong)}, and {kind} is wanted")


def _admits(expected: Alternative, value: Any) -> bool:
    """Whether a scalar is of an alternative, restrictions apart; a format is a hint alone."""
    if expected.values is not None and not any(same(value, one) for one in expected.values):
        return False
    if isinstance(value, str):
        least, most = expected.least("minLength"), expected.most("maxLength")
        patterns = all(compile_pattern(pattern).search(value) for pattern in expected.all("pattern"))
        return patterns and (least is None or len(value) >= least) and (most is None or len(value) <= most)
    if isinstance(value, bool) or value is None:
        return True
    steps = expected.all("multipleOf")
    in_steps = all((Fraction(str(value)) / Fraction(str(step))).denominator == 1 for step in steps)
    return (_is_whole(value) or not expected.whole) and _in_bounds(value, None, value, None, expected) and in_steps


def _is_whole(value: Any) -> bool:
    return not isinstance(value, float) or value.is_integer()


def _all_truths(actual: Alternative, expected: Alternative) -> bool:
    return actual.type == "boolean" and {True, False} <= set(expected.values or ())


def _word(alternative: Alternative) -> str:
    if alternative.values is not None:
        return _listed(alternative.values)
    return "a whole number" if alternative.whole else _NOUNS[alternative.type]


def _listed(values: Iterable[Any]) -> str:
    each = [shown(value) for value in values]
    return either(each[:4] if len(each) <= 4 else [*each[:3], f"one of {len(each) - 3} more"])


def _words(alternatives: Iterable[Alternative]) -> str:
    return either(_word(alternative) for alternative in alternatives) or "nothing"
