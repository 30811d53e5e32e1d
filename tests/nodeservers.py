"""The servers of tools from npm, in a folder of their own."""

from __future__ import annotations

import subprocess
from pathlib import Path

VERSIONS = {"everything": "2026.8.31", "filesystem": "2026.8.31", "memory": "2026.8.31"}
"""By name."""


def install(folder: Path) -> Path:
    """Install them, unless that was done; return the folder of their commands.

    Raises CalledProcessError where npm cannot, FileNotFoundError where there is none.
    """
    if not (folder / ".installed").exists():
        packages = [f"@modelcontextprotocol/server-{name}@{version}" for name, version in VERSIONS.items()]
        quiet = ["--no-audit", "--no-fund", "--no-package-lock", "--silent"]
        subprocess.run(["npm", "install", *quiet, "--prefix", str(folder), *packages], check=True, cwd=folder)
        (folder / ".installed").touch()
    return folder / "node_modules" / ".bin"
