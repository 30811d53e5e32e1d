"""A Note as a file that an editor can change: its text with its metadata as front matter, or its JSON."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from infospace.core.errors import InfospaceError, Invalid, NotFound

if TYPE_CHECKING:
    from infospace.core.json_types import JSON
    from infospace.core.resources import Note


class EditorFile:
    """A file in a folder of its own, until it is forgotten. Raises Invalid for a search result."""

    def __init__(self, note: Note) -> None:
        from infospace.files.render import render

        if note.evidence:
            raise Invalid(f"{note.id} is a search result, which stays as it was found", hint="edit its source")
        before = render(note.content, {} if not isinstance(note.content, str) else note.metadata)
        self._note = note
        self._before = before.data
        self.is_json = before.suffix == ".json"
        self.path = Path(tempfile.mkdtemp(prefix="infospace-")) / f"{note.id}{before.suffix}"
        self.path.write_bytes(before.data)

    @property
    def text(self) -> str:
        """What the file holds."""
        return self.path.read_bytes().decode()

    def write(self, text: str) -> None:
        """Put another text into the file."""
        self.path.write_bytes(text.encode("utf-8", "surrogatepass"))

    def read(self) -> tuple[JSON, dict[str, JSON]]:
        """Return content and metadata as the file has them now. Raises what reading a file raises.

        A front matter that can be read must stay one that can.
        """
        from infospace.files.formats import read
        from infospace.files.markdown import can_be_read, check_front
        from infospace.files.walk import FileToImport

        data = self.path.read_bytes()
        if not self._before.endswith(b"\n") and data.endswith(b"\n"):
            data = data[:-1]  # editors end the last line
            self.path.write_bytes(data)
        if data == self._before:
            return self._note.content, dict(self._note.metadata)
        whole = read(FileToImport(self.path.parent, self.path.name, self.path))[1]()
        if not self.is_json and can_be_read(self._before.decode()):
            check_front(self.text)
        return whole.content, dict(self._note.metadata) if self.is_json else whole.metadata

    def edit(self) -> None:
        """Let the user's editor change it. Raises NotFound where there is none, Invalid when it fails.

        `vi`, which nobody chose, is not begun where it has no terminal.
        """
        chosen = os.environ.get("VISUAL") or os.environ.get("EDITOR")
        if not chosen and not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise NotFound("there is no terminal for an editor", hint="set EDITOR")
        command = shlex.split(chosen or "vi")
        if not command or shutil.which(command[0]) is None:
            raise NotFound(f"there is no editor {' '.join(command)!r}", hint="set EDITOR")
        code = subprocess.run([*command, str(self.path)], check=False).returncode  # noqa: S603 - the user's own editor
        if code:
            raise Invalid(f"the editor {command[0]!r} ended with {code}: nothing was changed")

    def saved(self, error: InfospaceError) -> InfospaceError:
        """Say with an error where the work lies."""
        return type(error)(error.message, hint=f"nothing was changed; what you wrote is in {str(self.path)!r}")

    def forget(self) -> None:
        shutil.rmtree(self.path.parent, ignore_errors=True)
