"""Why a text is not of the language, before it is known what the text is called."""

from __future__ import annotations

from typing import Final

from infospace.core.errors import ExpressionInvalid, WhereInvalid
from infospace.data.paths import Path

LISTS: Final = "a list stands after IN, in parentheses: IN ('a', 'b'); elsewhere it is a variable, or split('a,b', ',')"
"""What to write for a list in brackets: there they hold a key, or a place."""


def list_hint(text: str, path: Path) -> str | None:
    """Return a hint where a path of a text is one key in brackets and quotes, as other languages write a list."""
    if len(path.parts) != 1:
        return None
    key = path.parts[0]
    raw = next((one for one in (f'["{key}"]', f"['{key}']") if one in text), None)
    return None if raw is None else f"{raw} is the key {key!r} of an item; {LISTS}"


class Refused(Exception):
    """What is wrong with a text, as what follows its name: `has ';' (character 3) where a value was expected`.

    `meant` is the text that says the same in the language, where that is plain; `edit` says what stands there instead
    of the characters from one place to another.
    """

    def __init__(
        self,
        message: str,
        hint: str | None = None,
        position: int | None = None,
        suggestion: str | None = None,
        *,
        renamed: tuple[int, str | None] | None = None,
        edit: tuple[int, int, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.position = position
        self.suggestion = suggestion
        self.renamed = renamed
        self.edit = edit

    def named(self, name: str, text: str) -> ExpressionInvalid:
        """Return it as the error of a text that is called `name`: `where`, or an expression."""
        suggestion = self.suggestion
        if suggestion is None and self.edit is not None:
            start, end, new = self.edit
            suggestion = f"{text[:start]}{new}{text[end:]}"
        if (
            suggestion is None
            and self.renamed is not None
            and self.renamed[1] is not None
            and self.position is not None
        ):
            end = self.position + self.renamed[0]
            suggestion = f"{text[: self.position]}{self.renamed[1]}{text[end:]}"
        kind = WhereInvalid if name == "`where`" else ExpressionInvalid
        return kind(f"{name} {self.message}", hint=self.hint, position=self.position, suggestion=suggestion)
