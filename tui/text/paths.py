"""What somebody wrote, taken as a path."""

from __future__ import annotations

import os
from pathlib import Path


def path_of(written: str) -> Path:
    """Return the path; a `~` that names nobody stays as it is, and names nothing then."""
    return Path(os.path.expanduser(written))  # noqa: PTH111 - Path.expanduser raises where there is nobody of that name
