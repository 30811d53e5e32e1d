"""What the tests take from npm, in folders of their own: servers of tools, and the suite that tries clients."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

VERSIONS = {"everything": "2026.8.31", "filesystem": "2026.8.31", "memory": "2026.8.31"}
"""The servers, by name."""
CONFORMANCE = ("@modelcontextprotocol/conformance@0.1.16", "node@22")
"""The official suite, and the Node that it needs."""


def install(folder: Path, packages: Sequence[str] = ()) -> Path:
    """Install packages, the servers without any, unless that was done; return the folder of their commands.

    Others may install them at the same time: whoever comes first puts his own there, whole. Raises CalledProcessError
    where npm cannot, FileNotFoundError where there is none.
    """
    there = folder / "node_modules"
    if not there.exists():
        packages = packages or [f"@modelcontextprotocol/server-{name}@{version}" for name, version in VERSIONS.items()]
        quiet = ["--no-audit", "--no-fund", "--no-package-lock", "--silent"]
        with tempfile.TemporaryDirectory(dir=folder) as own:
            subprocess.run(["npm", "install", *quiet, "--prefix", own, *packages], check=True, cwd=own)
            try:
                Path(own, "node_modules").rename(there)
            except OSError:
                if not there.exists():
                    raise
    return there / ".bin"
