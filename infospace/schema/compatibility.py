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

from infospace.core.regex import compile_pattern
from infospace.data.json_text import dump, same
from infospace.schema.normal_form import Alternative, NormalSchema, normal_form
from infospace.schema.words import either, shown

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


def compatibility(given: Mapping[str, Any] | None, wanted: Mapping[str, Any] | None) -> Compatibility:
    """Say how well what one schema admits fits another. None is a schema of which nothing is known."""
    if not wanted:
        return Compatibility(1.0, "anything is taken")
    if given is not None and dump(given) == dump(wanted):
        return Compatibility(1.0, "both schemas are the same")
    return compatibility_of(normal_form(given), normal_form(wanted))


def compatibility_of(given: NormalSchema, wanted: NormalSchema) -> Compatibility:
    """Say the same of schemas in normal form, which may be parts of others."""
    fit = _Comparison().compare(given, wanted)
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

    def compare(self, given: NormalSchema, wanted: NormalSchema) -> _Fit:
        if wanted.is_any:
            return _FITS
        key = given.key, wanted.key
        if key in self._known:
            return self._known[key][2]
        self._left -= 1
        if self._left < 0:
            return _Fit(PERHAPS, "is too large to be compared with what is wanted")
        self._known[key] = given, wanted, _FITS
        fit = self._alternatives(given, wanted)
        self._known[key] = given, wanted, fit
        return fit

    def _alternatives(self, given: NormalSchema, wanted: NormalSchema) -> _Fit:
        may_be, fits = given.alternatives, wanted.alternatives
        if not may_be:
            return _FITS
        if not fits:
            return _Fit(0.0, "may not be there")
        if given.is_any:
            return _Fit(UNTOLD, f"is not described, and {_words(fits)} is wanted")
        found = [self._one(one, fits) for one in may_be]
        worst = min(found, key=lambda fit: fit.score)
        if worst.score == 1:
            return _FITS
        mean = sum(fit.score for fit in found) / len(found)
        return _Fit(min(mean, 0.99), worst.message, worst.place)

    def _one(self, given: Alternative, fits: Iterable[Alternative]) -> _Fit:
        """How well an alternative fits whichever it fits best."""
        alike = [self._pair(given, one) for one in fits if one.type == given.type]
        if not alike:
            return _Fit(0.0, f"is {_word(given)}, and {_words(fits)} is wanted")
        return max(alike, key=lambda fit: (fit.score, len(fit.place)))

    def _pair(self, given: Alternative, wanted: Alternative) -> _Fit:
        if given.values is not None:
            fit = _values(given, wanted)
        elif wanted.values is not None and not (given.type == "null" or _all_truths(given, wanted)):
            fit = _Fit(PERHAPS, f"is {_word(given)}, and {_word(wanted)} is wanted")
        else:
            fit = self._by_type(given, wanted)
        unmet = [one for one in wanted.restrictions if not one[2] or one not in given.restrictions]
        if fit.score == 1 and unmet:
            return _Fit(0.9, f"may break `{unmet[0][0]}` of what is wanted")
        return fit

    def _by_type(self, given: Alternative, wanted: Alternative) -> _Fit:
        match given.type:
            case "number":
                return _numbers(given, wanted)
            case "string":
                return _texts(given, wanted)
            case "array":
                return self._lists(given, wanted)
            case "object":
                return self._objects(given, wanted)
        return _FITS

    def _lists(self, given: Alternative, wanted: Alternative) -> _Fit:
        bounds = _bounded(given, wanted, "minItems", "maxItems", "items")
        if bounds.score == 0:
            return bounds
        first, most = max(given.first, wanted.first), given.most("maxItems")
        if most is not None:
            first = min(first, most)
        places: list[_Fit] = []
        for at in range(first):
            item = self.compare(given.at_place(at), wanted.at_place(at)).within(f"item {at + 1}")
            places.append(item)
        if most is None or most > first:
            places.append(self.compare(given.at_place(first), wanted.at_place(first)).within("each item"))
        if any(wanted.all("uniqueItems")) and not any(given.all("uniqueItems")) and (most is None or most > 1):
            bounds = _worse(bounds, _Fit(0.9, "may have an item twice"))
        return _together(places, bounds)

    def _objects(self, given: Alternative, wanted: Alternative) -> _Fit:
        bounds = _bounded(given, wanted, "minProperties", "maxProperties", "keys")
        if bounds.score == 0:
            return bounds
        needed, sure = wanted.required, given.required
        found = []
        for name in dict.fromkeys((*given.names, *sorted(sure), *wanted.names, *sorted(needed))):
            fit = self._key(name, given, wanted)
            if fit is not None:
                found.append(fit)
        rest = self.compare(given.others(), wanted.others())
        if given.has_patterns and rest.score < 1 and rest.score == 0:
            rest = _Fit(PERHAPS, rest.message, rest.place)
        if given.has_patterns and not wanted.others().is_any:
            rest = _worse(rest, _Fit(0.9, "may have keys by a pattern that do not fit"))
        if rest.score < 1:
            # Keys of which nothing is said need not be there: they cost little, unless nothing else is said at all.
            share = 0.95 if given.names else PERHAPS
            bounds = _worse(bounds, _Fit(share, f"may have other keys, one of which {rest.message}"))
        return _together(found, bounds)

    def _key(self, name: str, given: Alternative, wanted: Alternative) -> _Fit | None:
        """How well one key fits, None where it cannot be there and need not."""
        has = given.at_key(name)
        needed, sure = name in wanted.required, name in given.required
        if not has.is_any and not has.alternatives:
            return _Fit(0.0, f"has no {dump(name)}, which is needed") if needed else None
        fit = self.compare(has, wanted.at_key(name)).within(f"`{name}`")
        if sure:
            return fit
        if needed:
            score = PERHAPS if name in given.names else UNTOLD
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


def _bounded(given: Alternative, wanted: Alternative, low: str, high: str, what: str) -> _Fit:
    """How well the size of something fits."""
    least, most = given.least(low) or 0, given.most(high)
    wants, takes = wanted.least(low) or 0, wanted.most(high)
    if most is not None and most < wants:
        return _Fit(0.0, f"has at most {most:,} {what}, and {wants:,} are needed")
    if takes is not None and least > takes:
        return _Fit(0.0, f"has {least:,} {what} or more, and at most {takes:,} are taken")
    if least < wants:
        return _Fit(0.9, f"may have fewer than {wants:,} {what}")
    if takes is not None and (most is None or most > takes):
        return _Fit(0.9, f"may have more than {takes:,} {what}")
    return _FITS


def _numbers(given: Alternative, wanted: Alternative) -> _Fit:
    low, above = given.least("minimum"), given.least("exclusiveMinimum")
    high, below = given.most("maximum"), given.most("exclusiveMaximum")
    lowest, highest = max(_without_none(low, above), default=None), min(_without_none(high, below), default=None)
    for bound in _without_none(wanted.least("minimum"), wanted.least("exclusiveMinimum")):
        if highest is not None and highest < bound:
            return _Fit(0.0, f"is at most {highest:g}, and {bound:g} or more is wanted")
    for bound in _without_none(wanted.most("maximum"), wanted.most("exclusiveMaximum")):
        if lowest is not None and lowest > bound:
            return _Fit(0.0, f"is at least {lowest:g}, and {bound:g} or less is wanted")
    if wanted.whole and not given.whole:
        return _Fit(0.8, "is any number, and a whole one is wanted")
    if not _in_bounds(lowest, above, highest, below, wanted):
        return _Fit(0.9, "may be beyond the bounds of what is wanted")
    steps = [Fraction(str(step)) for step in given.all("multipleOf")] + ([Fraction(1)] if given.whole else [])
    for step in wanted.all("multipleOf"):
        if not any((own / Fraction(str(step))).denominator == 1 for own in steps):
            return _Fit(0.8, f"may be no multiple of {step:g}")
    return _FITS


def _without_none(*bounds: Any) -> list[Any]:
    return [bound for bound in bounds if bound is not None]


def _in_bounds(lowest: Any, above: Any, highest: Any, below: Any, wanted: Alternative) -> bool:
    """Whether every number between some bounds is within those that are wanted."""
    least, more = wanted.least("minimum"), wanted.least("exclusiveMinimum")
    most, less = wanted.most("maximum"), wanted.most("exclusiveMaximum")
    return (
        (least is None or (lowest is not None and lowest >= least))
        and (more is None or (lowest is not None and (lowest > more or (above is not None and above >= more))))
        and (most is None or (highest is not None and highest <= most))
        and (less is None or (highest is not None and (highest < less or (below is not None and below <= less))))
    )


def _texts(given: Alternative, wanted: Alternative) -> _Fit:
    fit = _bounded(given, wanted, "minLength", "maxLength", "characters")
    if fit.score == 0:
        return fit
    for pattern in wanted.all("pattern"):
        if pattern not in given.all("pattern"):
            fit = _worse(fit, _Fit(UNPROMISED, f"may not match the pattern {pattern!r:.60}"))
    for format_ in wanted.all("format"):
        own = given.all("format")
        if own and format_ not in own:
            fit = _worse(fit, _Fit(UNTOLD, f"is text of the format {own[0]!r:.40}, and {format_!r:.40} is wanted"))
        elif not own:
            fit = _worse(fit, _Fit(UNPROMISED, f"is any text, and the format {format_!r:.40} is wanted"))
    return fit


def _values(given: Alternative, wanted: Alternative) -> _Fit:
    """How many of the values that are named fit."""
    values = given.values or ()
    wrong = [value for value in values if not _admits(wanted, value)]
    # Restrictions of what is wanted are looked at by who asks; what is named and fits none of the rest fits never.
    if not wrong:
        return _FITS
    message = f"is {_listed(wrong)}, and {_word(wanted)} is wanted"
    return _Fit((len(values) - len(wrong)) / len(values), message)


def _admits(wanted: Alternative, value: Any) -> bool:
    """Whether a scalar is of an alternative, restrictions apart; a format is a hint alone."""
    if wanted.values is not None and not any(same(value, one) for one in wanted.values):
        return False
    if isinstance(value, str):
        least, most = wanted.least("minLength"), wanted.most("maxLength")
        patterns = all(compile_pattern(pattern).search(value) for pattern in wanted.all("pattern"))
        return patterns and (least is None or len(value) >= least) and (most is None or len(value) <= most)
    if isinstance(value, bool) or value is None:
        return True
    whole = not isinstance(value, float) or value.is_integer()
    steps = wanted.all("multipleOf")
    in_steps = all((Fraction(str(value)) / Fraction(str(step))).denominator == 1 for step in steps)
    return (whole or not wanted.whole) and _in_bounds(value, None, value, None, wanted) and in_steps


def _all_truths(given: Alternative, wanted: Alternative) -> bool:
    return given.type == "boolean" and {True, False} <= set(wanted.values or ())


def _word(alternative: Alternative) -> str:
    if alternative.values is not None:
        return _listed(alternative.values)
    return "a whole number" if alternative.whole else _NOUNS[alternative.type]


def _listed(values: Iterable[Any]) -> str:
    each = [shown(value) for value in values]
    return either(each[:4] if len(each) <= 4 else [*each[:3], f"one of {len(each) - 3} more"])


def _words(alternatives: Iterable[Alternative]) -> str:
    return either(_word(one) for one in alternatives) or "nothing"
