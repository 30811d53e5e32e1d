"""The words of `where` as sqlglot's tokenizer cuts them.

Imported only when a `where` is read: sqlglot costs about 90 ms.
"""

from __future__ import annotations

from typing import ClassVar

from sqlglot import Tokenizer, TokenType


class WhereTokenizer(Tokenizer):
    """SQL without comments, commands and almost all keywords: fields may be called `order` or `date`."""

    QUOTES: ClassVar[list[tuple[str, str] | str]] = ["'", '"']
    STRING_ESCAPES: ClassVar[list[str]] = ["'", '"']
    IDENTIFIERS: ClassVar[list[str | tuple[str, str]]] = ["`"]
    COMMENTS: ClassVar[list[str | tuple[str, str]]] = []
    COMMANDS: ClassVar[set[TokenType]] = set()
    KEYWORDS: ClassVar[dict[str, TokenType]] = {
        "==": TokenType.EQ,
        "!=": TokenType.NEQ,
        "<>": TokenType.NEQ,
        "<=": TokenType.LTE,
        ">=": TokenType.GTE,
    }
    SINGLE_TOKENS: ClassVar[dict[str, TokenType]] = {
        "(": TokenType.L_PAREN,
        ")": TokenType.R_PAREN,
        ",": TokenType.COMMA,
        "=": TokenType.EQ,
        "<": TokenType.LT,
        ">": TokenType.GT,
        **dict.fromkeys("'\"`.-[]{}$@!+*/%;:&|^~?#\\", TokenType.UNKNOWN),
    }


def tokens(text: str) -> list[tuple[TokenType, str, int, int]]:
    """Cut `text` into (type, text, start, end); raises `sqlglot.errors.TokenError` at an open quote."""
    return [(token.token_type, token.text, token.start, token.end + 1) for token in WhereTokenizer().tokenize(text)]
