"""What a request says literally, as what it is: `rename report.doc to old.doc` as `rename file to file`.

No tool speaks of `report.doc`, so a search that reads it finds the request half covered, and its meaning drawn to
whatever a report is. Said as what they are, values speak for the tools that take such.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_KINDS: Final[Sequence[tuple[str, str]]] = (
    ("URL", r"\b(?:https?|ftp)://[^\s'\"<>]*[^\s'\"<>.,;:!?)]|\bwww\.[\w.-]+\w"),
    ("email", r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b"),
    ("text", r"""(?<!\w)'[^'\n]{2,}'(?!\w)|"[^"\n]{2,}"|“[^”\n]{2,}”|„[^“”\n]{2,}[“”]|`[^`\n]+`"""),
    (
        "file",
        r"(?<![\w/])[\w./-]*\*[\w.*/-]+|(?<![\w/.@])(?:[\w-]+(?:/[\w.-]+)*\.(?!(?:com|org|net|io)\b)[a-z][a-z0-9]{1,4}|[\w-]{2,}\.[a-z])\b(?!\()",
    ),
    ("folder", r"(?<![\w/])(?:~|\.{1,2})?/[\w.@+/-]*[\w@+-]"),
    ("date", r"\b\d{4}-\d{2}-\d{2}\b"),
    ("time", r"\b(?:[01]?\d|2[0-3]):[0-5]\d\b"),
    ("id", r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b"),
    ("number", r"(?<![\w.])-?\d+(?:[.,]\d+)*\b(?![.\w])|(?<![\w.])-?\d+(?=\.?(?:\s|$))"),
)
_FIND: Final = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _KINDS))


def without_values(request: str) -> str:
    """Return a request with a word for each value in it; itself where it has none."""
    return _FIND.sub(lambda match: str(match.lastgroup), request)
