"""Where a step of a plan stands: `4.do[3].2` is step 2 in the third round of the `do` of step 4.

A position names steps by their labels, from the plan's own step inwards. Between a step and one that stands in it is
a part: which block of the step it is, and which time.

| position             | is                                                            |
|----------------------|---------------------------------------------------------------|
| `4`, `my-id`         | a step of the plan, by its number or its `id`                  |
| `4#2`                | the second attempt of step 4                                   |
| `4[2]`               | what step 4, a `map`, does for its second item                 |
| `4.then.1`           | step 1 in the `then` of step 4; `else` likewise                |
| `4.body[2].1`        | step 1 in the second round of a `while`                        |
| `4.do[3].2`          | step 2 for the third item of a `for-each`                      |
| `4.branches[2].1`    | step 1 in the second branch of a `parallel`                    |
| `4.on_fail.1`        | step 1 of what handles the failure of step 4                   |
| `4[2].on_fail.1`     | step 1 of what handles the failure of the second item of step 4 |
| `4/2`                | step 2 of the saved plan that step 4 runs                      |

In files, in JSON and in the journal a position is this text; only here it is taken apart and put together.

>>> position = Position.parse("4.do[3].2#2")
>>> position.label, position.attempt, position.parent.text
('2', 2, '4')
>>> position.part.text, position.part.block, position.part.number
('4.do[3]', 'do', 3)
>>> Position("4").inside("do", 3).step("2").text
'4.do[3].2'
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, Literal, TypeAlias, cast

from infospace.core.errors import Invalid

Block: TypeAlias = Literal["then", "else", "body", "do", "branches", "on_fail", "plan"]
"""Where in a step others stand; `plan` is the saved plan that it runs."""

ROUNDS: Final = ("body", "do")
"""Blocks that are run again and again, each time under a number."""

_STEP = re.compile(r"([^.#/!?\[\]\s]+)(?:#([0-9]+))?(?:\[([0-9]+)\])?")
_PART = re.compile(r"(?:\.(then|else)|\.(body|do|branches)\[([0-9]+)\]|(?:\[([0-9]+)\])?\.(on_fail)|(/))$")
_BEHIND_TOP = re.compile(r"[.\[#/!?]")
_KEPT = 512
"""Positions and parts that are kept taken apart: those around a step are met again with the next one."""


@dataclass(frozen=True, slots=True)
class Position:
    """A step of a plan, or an attempt or an item of one, by the labels that lead to it.

    >>> Position("4", attempt=2).text
    '4#2'
    >>> Position("4", item=2).text
    '4[2]'
    """

    label: str
    """Its number in its block, or its `id`."""
    part: Part | None = None
    """The part of a step that it stands in, None for one of the plan's own steps."""
    attempt: int = 1
    item: int | None = None
    """Which item of a `map`, counted from 1; None is the whole step."""
    text: str = field(init=False, compare=False, repr=False)
    """As it is written."""

    def __post_init__(self) -> None:
        before = "" if self.part is None else self.part.prefix
        text = attempt_at(before + self.label, self.attempt)
        object.__setattr__(self, "text", text if self.item is None else item_at(text, self.item))

    def __str__(self) -> str:
        """Return it as it is written."""
        return self.text

    @staticmethod
    def parse(text: str) -> Position:
        """Take a position apart; raises Invalid.

        >>> Position.parse("4..2")
        Traceback (most recent call last):
        infospace.core.errors.Invalid: '4..2' is not a position of a step (a position is like 4, 4#2 or 4.do[3].2)
        """
        result = _position(text)
        if result is None:
            raise Invalid(f"{text!r} is not a position of a step", hint="a position is like 4, 4#2 or 4.do[3].2")
        return result

    @property
    def parent(self) -> Position | None:
        """The step that it stands in, None for one of the plan's own steps."""
        return None if self.part is None else self.part.holder

    @property
    def whole(self) -> Position:
        """The step of which it is an item, else itself.

        >>> Position.parse("4.then.1[7]").whole.text
        '4.then.1'
        """
        return self if self.item is None else replace(self, item=None)

    @property
    def first(self) -> Position:
        """The same at the first attempt.

        >>> Position.parse("4.then.1#2").first.text
        '4.then.1'
        """
        return self if self.attempt == 1 else replace(self, attempt=1)

    @property
    def parts(self) -> Iterator[Part]:
        """The parts that it lies in, innermost first.

        >>> [part.text for part in Position.parse("4.do[3].2/1").parts]
        ['4.do[3].2/', '4.do[3]']
        """
        return iter(()) if self.part is None else self.part.around

    @property
    def depth(self) -> int:
        """How many parts it lies in: 0 for one of the plan's own steps."""
        return sum(1 for _ in self.parts)

    @property
    def top(self) -> str:
        """The label of the plan's own step that it lies in.

        >>> Position.parse("4.do[3].2/1").top
        '4'
        """
        return top_label(self.text)

    @property
    def in_loop(self) -> bool:
        """Whether it lies in a round of a `while`, or in what a `for-each` does for an item."""
        return any(part.block in ROUNDS for part in self.parts)

    def inside(self, block: Block, number: int | None = None) -> Part:
        """Return a part of the step."""
        return Part(self, block, number)


@dataclass(frozen=True, slots=True)
class Part:
    """A block of a step, and which time: `4.then`, `4.do[3]`, `4.branches[2]`, `4.on_fail`, `4[2].on_fail`, `4/`.

    >>> part = Part.parse("4[2].on_fail")
    >>> part.holder.text, part.block, part.number, part.prefix
    ('4', 'on_fail', 2, '4[2].on_fail.')
    """

    holder: Position
    """The step that it is a part of."""
    block: Block
    number: int | None = None
    """Which round, item or branch, counted from 1; None where there is only one."""
    text: str = field(init=False, compare=False, repr=False)
    """As it is written."""

    def __post_init__(self) -> None:
        prefix = prefix_in(self.holder.text, self.block, self.number)
        object.__setattr__(self, "text", prefix if self.block == "plan" else prefix[:-1])

    def __str__(self) -> str:
        """Return it as it is written."""
        return self.text

    @staticmethod
    def parse(text: str) -> Part:
        """Take a part apart; raises Invalid."""
        result = _part(text)
        if result is None:
            raise Invalid(f"{text!r} is not a part of a step", hint="a part is like 4.then, 4.do[3] or 4/")
        return result

    @property
    def prefix(self) -> str:
        """What the positions in it begin with."""
        return self.text if self.block == "plan" else f"{self.text}."

    @property
    def around(self) -> Iterator[Part]:
        """The part and those that it lies in, innermost first."""
        part: Part | None = self
        while part is not None:
            yield part
            part = part.holder.part

    @property
    def failed(self) -> Position:
        """Of an `on_fail`, the step or the item whose failure it handles.

        >>> Part.parse("4[2].on_fail").failed.text
        '4[2]'
        """
        return replace(self.holder, item=self.number)

    @property
    def scoped(self) -> bool:
        """Whether what is bound in it is bound there alone."""
        return self.block in ("do", "branches", "plan")

    def step(self, label: str, attempt: int = 1) -> Position:
        """Return the position of a step in it."""
        return Position(label, self, attempt)


def place_of(text: str) -> Position | Part | None:
    """Take apart what may be the position of a step or a part of one; None where it is neither.

    >>> place_of("4.on_fail"), place_of("input").label, place_of("4.do")
    (Part(holder=Position(label='4', part=None, attempt=1, item=None), block='on_fail', number=None), 'input', None)
    """
    return _position(text) or _part(text)


# Each of the two looks only at a shorter beginning of the text, so that recursion ends. No text is both: what is a part
# but for a last label begins with a part, and what is a step but for a last block begins with a step.


@lru_cache(maxsize=_KEPT)
def _position(text: str) -> Position | None:
    at = max(text.rfind("."), text.rfind("/"))
    part = None
    if at >= 0:
        part = _part(text[: at + (text[at] == "/")])
        if part is None:
            return None
    match = _STEP.fullmatch(text, at + 1)
    if match is None:
        return None
    label, attempt, item = match.groups()
    return Position(label, part, int(attempt or 1), None if item is None else int(item))


@lru_cache(maxsize=_KEPT)
def _part(text: str) -> Part | None:
    match = _PART.search(text)
    holder = None if match is None else _position(text[: match.start()])
    if match is None or holder is None:
        return None
    single, numbered, number, item, handler, _ = match.groups()
    count = number or item
    block = cast("Block", single or numbered or handler or "plan")
    return Part(holder, block, None if count is None else int(count))


def prefix_in(step: str, block: Block, number: int | None = None) -> str:
    """Return what the positions in a part of a step begin with.

    >>> prefix_in("4", "do", 3), prefix_in("4", "then"), prefix_in("4", "plan"), prefix_in("4", "on_fail", 2)
    ('4.do[3].', '4.then.', '4/', '4[2].on_fail.')
    """
    if block == "plan":
        return f"{step}/"
    if number is None:
        return f"{step}.{block}."
    return f"{step}[{number}].on_fail." if block == "on_fail" else f"{step}.{block}[{number}]."


def attempt_at(position: str, attempt: int) -> str:
    """Return the position of an attempt of a step: `4`, `4#2`, `4#3`."""
    return position if attempt == 1 else f"{position}#{attempt}"


def item_at(position: str, number: int) -> str:
    """Return the position of what a `map` does for an item, counted from 1: `4[2]`."""
    return f"{position}[{number}]"


def holds(position: str, other: str) -> bool:
    """Whether the step at one position has another position, or an item of it, in it.

    >>> holds("4", "4.then.1"), holds("4", "4[2]"), holds("4", "4#2"), holds("4", "42"), holds("4", "4")
    (True, True, False, False, False)
    """
    return other.startswith(position) and other[len(position) : len(position) + 1] in {".", "/", "["}


def is_nested(position: str) -> bool:
    """Whether what stands at a position stands in a step of the plan, and is none of the plan's own steps.

    >>> is_nested("4.then.1"), is_nested("4/2"), is_nested("4[2].on_fail.1"), is_nested("4#2"), is_nested("4[2]")
    (True, True, True, False, False)
    """
    return "." in position or "/" in position


def is_execution_of(position: str, step: str) -> bool:
    """Whether what stands at a position is a step, or a later attempt of it, or stands in one of these.

    >>> [is_execution_of(position, "1") for position in ("1", "1/2", "1#2", "1#2.do[1].1", "11")]
    [True, True, True, True, False]
    """
    return position == step or holds(step, position) or position.startswith(f"{step}#")


def top_label(position: str) -> str:
    """Return the label of the plan's own step in which something lies: a position, or a key that begins with one.

    >>> top_label("4.do[3].2"), top_label("4#2"), top_label("input"), top_label("4.do[1-100]")
    ('4', '4', 'input', '4')
    """
    return _BEHIND_TOP.split(position, maxsplit=1)[0]


def item_of(text: str | None) -> int | None:
    """Return the item of a `map` for which something was made, as its step is noted; None where it was for none.

    >>> item_of("4[2]"), item_of("4"), item_of("4.do[2]")
    (2, None, None)
    """
    place = None if text is None else place_of(text)
    return place.item if isinstance(place, Position) else None


def first_attempt(text: str) -> str:
    """Return the position of the first attempt of what stands at a position.

    >>> first_attempt("4.then.1#2"), first_attempt("4"), first_attempt("")
    ('4.then.1', '4', '')
    """
    place = place_of(text)
    return place.first.text if isinstance(place, Position) else text
