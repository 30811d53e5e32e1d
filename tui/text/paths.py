"""What somebody wrote, taken as a path, and what lies there."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tui.text.output import UsageError

SAVED = "plan:"
"""What names a saved plan where a file could stand."""


def path_of(text: str) -> Path:
    """Return the path; a `~` that names nobody stays as it is, and names nothing then."""
    return Path(os.path.expanduser(text))  # noqa: PTH111 - Path.expanduser raises where there is nobody of that name


def lies_there(path: Path) -> bool:
    """Whether something is found at a path: nothing is where a name is too long for a file, or nobody may look."""
    return os.path.exists(path)  # noqa: PTH110 - Path.exists raises for such paths


def read_source(path: str) -> bytes:
    """Return the bytes of a file, or of standard input for `-`."""
    if path == "-":
        return sys.stdin.buffer.read()
    try:
        return path_of(path).read_bytes()
    except FileNotFoundError:
        raise UsageError(f"there is no file {path!r}") from None
    except IsADirectoryError:
        raise UsageError(f"{path!r} is a folder, not a plan") from None
    except OSError as error:
        raise UsageError(f"{path!r} cannot be read: {error.strerror}") from error
