"""CommonMark with `[[links]]` and `%% comments %%`, which says where in its block each thing stands.

Blocks are read first; the text of a block is read by `inline`, and only where something may be in it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from infospace.data.markdown.rule_choice import IS_UNDERLINED, choose_by_sign, may_be_underlined

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

OPAQUE: Final = "\ufffc"
"""Stands for a character of code, of raw HTML or of a comment."""

_WIKI = re.compile(r"\[\[(?P<target>[^\[\]\n|#]*)(?P<heading>#[^\[\]\n|]*)?(?:\|(?P<alias>[^\[\]\n]*))?\]\]")
_COMMENT = re.compile(r"%%.*?%%", re.DOTALL)
_MARK: Final = "%%"
_OTHER_MARKUP = re.compile(r"[*_`<\\&%!\n]|\]\(|\]:")


def blocks(text: str, env: dict[str, Any]) -> list[Token]:
    """Return the blocks of a text; `env` keeps what links refer to."""
    if "\r" in text or "\0" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    env[IS_UNDERLINED] = may_be_underlined(text)
    return _markdown().parse(text, env)


def inline(content: str, env: dict[str, Any]) -> list[Token]:
    """Return what stands in a block."""
    if not _OTHER_MARKUP.search(content) and (plain := _plain(content)) is not None:
        return plain
    md = _markdown()
    tokens: list[Token] = []
    md.inline.parse(content, md, env, tokens)
    return tokens


def mask(content: str, env: dict[str, Any]) -> tuple[list[Token], str]:
    """Return what stands in a block, and its content with `OPAQUE` for code, raw HTML and comments, as long as it."""
    spans: list[tuple[int, int]] = []
    env["opaque"] = spans
    tokens = inline(content, env)
    parts: list[str] = []
    at = 0
    for start, end in spans:
        if start >= at:
            parts += (content[at:start], OPAQUE * (end - start))
            at = end
    return tokens, "".join((*parts, content[at:]))


def _plain(content: str) -> list[Token] | None:
    """Return what stands in a block that has no markup but `[[links]]`, as the parser reads it; None for any other."""
    from markdown_it.token import Token

    tokens: list[Token] = []
    at = 0
    for match in _WIKI.finditer(content):
        tokens += (Token("text", "", 0, content=content[at : match.start()]), _link_token(match))
        at = match.end()
    tokens.append(Token("text", "", 0, content=content[at:]))
    return None if any("[" in token.content for token in tokens if token.type == "text") else tokens


def _link_token(match: re.Match[str]) -> Token:
    from markdown_it.token import Token

    target, heading, alias = match["target"].rstrip("\\").strip(), match["heading"] or "", match["alias"]
    heading = heading.rstrip("\\")
    meta = {"target": target, "heading": heading.lstrip("#").strip(), "position": match.start()}
    return Token("wiki", "", 0, content=(alias or target + heading).strip(), meta=meta)


@cache
def _markdown() -> MarkdownIt:
    """Make a parser that stops at blocks."""
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import backtick, html_inline, link

    def link_with_place(state: StateInline, silent: bool) -> bool:
        position, result = state.pos, len(state.tokens)
        if not link(state, silent):
            return False
        if not silent:
            opened = next(token for token in state.tokens[result:] if token.type == "link_open")
            opened.meta["position"] = position
        return True

    def noting(rule: Any) -> Any:
        def noted(state: StateInline, silent: bool) -> bool:
            position = state.pos
            if not rule(state, silent):
                return False
            if not silent:
                state.env.setdefault("opaque", []).append((position, state.pos))
            return True

        return noted

    md = MarkdownIt("commonmark")
    md.core.ruler.enableOnly(["block"])
    md.block.ruler.before("fence", "comment", _comment_block, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    md.inline.ruler.at("backticks", noting(backtick))
    md.inline.ruler.at("html_inline", noting(html_inline))
    md.inline.ruler.at("link", link_with_place)
    md.inline.ruler.before("link", "wiki", _wiki)
    md.inline.ruler.before("wiki", "comment", noting(_comment))
    choose_by_sign(md)
    return md


def _comment_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A comment of several lines begins and ends lines; one that nothing ends is text."""
    first = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]]
    if not first.startswith(_MARK) or _MARK in first[2:] or state.is_code_block(start):
        return False
    last = next((one for one in range(start + 1, end) if _MARK in _line(state, one)), None)
    if last is None:
        return False
    if not silent:
        state.line = last + 1
        token = state.push("html_block", "", 0)
        token.map = [start, state.line]
    return True


def _line(state: StateBlock, number: int) -> str:
    return state.src[state.bMarks[number] : state.eMarks[number]]


def _comment(state: StateInline, silent: bool) -> bool:
    match = _COMMENT.match(state.src, state.pos, state.posMax)
    if not match:
        return False
    if not silent:
        state.push("html_inline", "", 0).content = match[0]
    state.pos = match.end()
    return True


def _wiki(state: StateInline, silent: bool) -> bool:
    match = _WIKI.match(state.src, state.pos, state.posMax)
    if not match:
        return False
    if not silent:
        result = _link_token(match)
        token = state.push(result.type, "", 0)
        token.content, token.meta = result.content, result.meta
    state.pos = match.end()
    return True
