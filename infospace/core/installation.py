"""How this installation gets what it has not: by the tool that made the environment it runs in."""

from __future__ import annotations

import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

REINSTALL = "the installation is not whole: install infospace again, as you did"


def install_hint(extra: str) -> str:
    """Return the command that adds an extra of infospace to this very environment.

    pipx keeps a file in the environments that it makes, and reaches into them by a command of its own; those of
    uv have no pip.
    """
    package = f"'infospace[{extra}]'"
    if (Path(sys.prefix) / "pipx_metadata.json").is_file():
        return f"pipx inject infospace {package}"
    if find_spec("pip") is None:
        return f"uv pip install --python {shlex.quote(sys.executable)} {package}"
    return f"pip install {package}"
