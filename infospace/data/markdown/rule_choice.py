"""Which of the parser's rules can begin where: those of the sign that stands there, and not all of them in turn.

The parser tries each of its rules at each line and at each sign, and most look at the first sign alone to say no. Here
the sign chooses; the rules, their order and so the result are the parser's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline

Rule: TypeAlias = Callable[..., bool]

_OF_LINES: Final[Mapping[str, str]] = {
    "comment": "%",
    "fence": "`~",
    "blockquote": ">",
    "hr": "*-_",
    "list": "*-+0123456789",
    "reference": "[",
    "html_block": "<",
    "heading": "#",
}
"""The first signs of the blocks that have some. A code block begins by its indentation, which is looked at first."""

_OF_SIGNS: Final[Mapping[str, str]] = {
    "newline": "\n",
    "escape": "\\",
    "backticks": "`",
    "emphasis": "*_",
    "comment": "%",
    "wiki": "[",
    "link": "[",
    "image": "!",
    "autolink": "<",
    "html_inline": "<",
    "entity": "&",
}
_UNDERLINED: Final = re.compile(r"[=-][ \t]*$", re.MULTILINE)

IS_UNDERLINED: Final = "is_underlined"
"""In a document's environment: whether any line in it may underline a heading."""

CODE_INDENT: Final = 4


def may_be_underlined(text: str) -> bool:
    """Whether a text may have a heading that is underlined by `===` or `---`."""
    return _UNDERLINED.search(text) is not None


def choose_by_sign(md: MarkdownIt) -> None:
    """Have a parser choose its rules by the sign where they would begin."""
    blocks: Any = _Chosen(md.block.ruler, _block_rule)
    signs: Any = _Chosen(md.inline.ruler, _inline_rule)
    md.block.ruler, md.inline.ruler = blocks, signs


class _Chosen:
    """Stands for the rules of a parser; `getRules` gives one that chooses among those of a chain."""

    def __init__(self, ruler: Any, choosing: Callable[[list[tuple[str, Rule]]], Rule]) -> None:
        chains = {"", *(chain for rule in ruler.__rules__ for chain in rule.alt)}
        self._names: list[str] = ruler.get_active_rules()
        self._rules: dict[str, list[Rule]] = {}
        for chain in chains:
            rules = [rule for rule in ruler.__rules__ if rule.enabled and (not chain or chain in rule.alt)]
            self._rules[chain] = [choosing([(rule.name, rule.fn) for rule in rules])]

    def get_active_rules(self) -> list[str]:
        """Return the names of the rules, as the parser asks for them."""
        return self._names

    def getRules(self, chain: str = "") -> list[Rule]:  # noqa: N802 - the parser calls it so
        return self._rules.get(chain, [])


def _by_sign(rules: list[tuple[str, Rule]], signs: Mapping[str, str]) -> dict[str, list[Rule]]:
    every = dict.fromkeys("".join(signs.values()))
    return {sign: [rule for name, rule in rules if sign in signs.get(name, sign)] for sign in every}


def _block_rule(rules: list[tuple[str, Rule]]) -> Rule:
    in_full = [rule for _, rule in rules]
    without = [(name, rule) for name, rule in rules if name not in ("code", "lheading")]
    underlined = [(name, rule) for name, rule in rules if name != "code"]
    plain: list[Rule] = [rule for name, rule in without if name not in _OF_LINES]
    plain_underlined = [rule for name, rule in underlined if name not in _OF_LINES]
    results, found_underlined = _by_sign(without, _OF_LINES), _by_sign(underlined, _OF_LINES)

    def rule(state: StateBlock, line: int, end: int, silent: bool) -> bool:
        chosen: Iterable[Rule]
        if state.sCount[line] - state.blkIndent >= CODE_INDENT:
            chosen = in_full
        else:
            at = state.bMarks[line] + state.tShift[line]
            sign = state.src[at : at + 1]
            if state.env[IS_UNDERLINED]:
                chosen = found_underlined.get(sign, plain_underlined)
            else:
                chosen = results.get(sign, plain)
        for one in chosen:  # noqa: SIM110 - a generator costs as much as a rule
            if one(state, line, end, silent):
                return True
        return False

    return rule


def _inline_rule(rules: list[tuple[str, Rule]]) -> Rule:
    results = _by_sign(rules, _OF_SIGNS)
    for sign in results:
        results[sign] = [one for name, one in rules if name in _OF_SIGNS and sign in _OF_SIGNS[name]]
    plain = [one for name, one in rules if name not in _OF_SIGNS]

    def rule(state: StateInline, silent: bool) -> bool:
        for one in results.get(state.src[state.pos], plain):  # noqa: SIM110 - a generator costs as much as a rule
            if one(state, silent):
                return True
        return False

    return rule
