"""The servers of tools from npm, in a folder of their own."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

VERSIONS = {"everything": "2026.8.31", "filesystem": "2026.8.31", "memory": "2026.8.31"}
"""By name."""


def install(folder: Path) -> Path:
    """Install them, unless that was done; return the folder of their commands.

    Others may install them at the same time: whoever comes first puts his own there, whole. Raises CalledProcessError
    where npm cannot, FileNotFoundError where there is none.
    """
    there = folder / "node_modules"
    if not there.exists():
        packages = [f"@modelcontextprotocol/server-{name}@{version}" for name, version in VERSIONS.items()]
        quiet = ["--no-audit", "--no-fund", "--no-package-lock", "--silent"]
        with tempfile.TemporaryDirectory(dir=folder) as own:
            subprocess.run(["npm", "install", *quiet, "--prefix", own, *packages], check=True, cwd=own)
            try:
                Path(own, "node_modules").rename(there)
            except OSError:
                if not there.exists():
                    raise
    return there / ".bin"
