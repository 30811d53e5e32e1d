"""The command as a user calls it: `cli(...)` gives exit code, standard output and standard error."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True)
class Said:
    """What a call of the command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as the one JSON document that it must be."""
        import json

        return json.loads(self.out)


Cli = Callable[..., Said]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Call the command in an empty folder, with a space of its own."""
    from tui.command import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INFOSPACE_SPACE", str(tmp_path / "space.db"))

    def call(*arguments: str, stdin: str | bytes = "") -> Said:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        capsys.readouterr()
        try:
            code = main(list(arguments))
        except SystemExit as leave:
            code = int(leave.code or 0)
        said = capsys.readouterr()
        return Said(code, said.out, said.err)

    return call


@pytest.fixture
def known(tmp_path: Path) -> Path:
    """A space with two notes from files, brought in by run_1; the folder of the files."""
    from infospace import open_space
    from infospace.core.listener import NullListener
    from infospace.files.import_files import import_paths

    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("See [[b]].")
    (folder / "b.md").write_text("b")
    with open_space(tmp_path / "space.db") as space:
        import_paths(space, [folder], NullListener())
    return folder
