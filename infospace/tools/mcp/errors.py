"""What goes wrong with servers, in sentences that hold none of their secrets."""

from __future__ import annotations

from infospace.core.tool import NotCalled

MAX_REASON_CHARACTERS = 300
"""Characters of what a server said that stand in a sentence."""


class ServerFailed(NotCalled):
    """A server that cannot be spoken with: nothing happened. `stderr` is what it said last."""

    def __init__(self, server: str, message: str, *, hint: str | None = None, stderr: str = "", lasting: bool = False):
        super().__init__(message, hint=hint)
        self.server = server
        self.stderr = stderr
        self.lasting = lasting
        """Whether trying again at once is of no use."""


def format_output_tail(text: str) -> str:
    """Return the end of what a server said, to go on a sentence; empty where it said nothing."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"; it said {_end_of(lines[-1])!r}" if lines else ""


def _end_of(line: str) -> str:
    """Return a line that is not too long; of another its last whole words, after a mark that something is left out."""
    if len(line) <= MAX_REASON_CHARACTERS:
        return line
    end = line[-MAX_REASON_CHARACTERS:]
    begins_a_word = line[-MAX_REASON_CHARACTERS - 1].isspace()
    _, space, words = end.partition(" ")
    return f"… {words if space and not begins_a_word else end}"
