"""What a model writes before its plan: prose, and what it thinks aloud."""

from __future__ import annotations

import re

_THINKS = ("think", "thinking", "reasoning", "scratchpad")
_NEXT = re.compile(rf"[{{\[]|<({'|'.join(_THINKS)})>", re.IGNORECASE)
_ENDS = {name: re.compile(f"</{name}>", re.IGNORECASE) for name in _THINKS}
_MAX_KEPT = max(len(f"</{name}>") for name in _THINKS) - 1


class Preface:
    """Finds the first bracket outside thoughts in an answer that arrives in pieces.

    Each character is looked at once or twice, however long a model goes on: only what may be the first part of a tag
    is kept from one piece to the next.
    """

    def __init__(self) -> None:
        self.kept = ""
        """The last characters that arrived, no more than a tag has."""
        self._thought: str | None = None
        """The tag of the thought that has not ended."""

    def feed(self, piece: str) -> str | None:
        """Return what has arrived from the bracket on; None where there is none yet."""
        text, at = self.kept + piece, 0
        while True:
            match = (_NEXT if self._thought is None else _ENDS[self._thought]).search(text, at)
            if match is None:
                self.kept = text[max(at, len(text) - _MAX_KEPT) :]
                return None
            if self._thought is None and match[1] is None:
                return text[match.start() :]
            self._thought, at = (match[1].lower() if self._thought is None else None), match.end()
