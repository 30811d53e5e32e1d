"""Why a text is not of the language, before it is known what the text is called."""

from __future__ import annotations

from infospace.core.errors import ExpressionInvalid, WhereInvalid


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
        meant: str | None = None,
        *,
        renamed: tuple[int, str | None] | None = None,
        edit: tuple[int, int, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.position = position
        self.meant = meant
        self.renamed = renamed
        self.edit = edit

    def named(self, name: str, text: str) -> ExpressionInvalid:
        """Return it as the error of a text that is called `name`: `where`, or an expression."""
        meant = self.meant
        if meant is None and self.edit is not None:
            start, end, new = self.edit
            meant = f"{text[:start]}{new}{text[end:]}"
        if meant is None and self.renamed is not None and self.renamed[1] is not None and self.position is not None:
            end = self.position + self.renamed[0]
            meant = f"{text[: self.position]}{self.renamed[1]}{text[end:]}"
        kind = WhereInvalid if name == "`where`" else ExpressionInvalid
        return kind(f"{name} {self.message}", hint=self.hint, position=self.position, meant=meant)
