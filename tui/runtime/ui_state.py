"""What the screen remembers between starts: its theme, the last place, and what each place wants to know again.

Each space has a file of its own for what belongs to it: the draft of a plan, the runs that are compared, what was
searched for.
"""

from __future__ import annotations

import hashlib
import json
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from infospace.core.errors import InfospaceError, InvalidJSON
from infospace.core.json_types import JSON
from infospace.data.json_text import read_json
from infospace.files.atomic_write import write_atomically

MAX_FILE_BYTES = 1_000_000
"""Bytes of a file that is taken for one of ours."""


def usual_path() -> Path:
    """Return where the state of this user's screen is kept."""
    from platformdirs import user_state_dir

    return Path(user_state_dir("infospace", appauthor=False)) / "screen.json"


OF_THE_SPACE = ("compose.", "compare.", "runs.", "notes.query", "tools.query")
"""What keys begin with that say something of one space."""


class UiState:
    """Values by place and key, kept in a file. What cannot be read or written is said once, and costs nothing else."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.complaint: str | None = None
        """What was wrong with the file, in a sentence."""
        self.values = self._read()
        self._written = dict(self.values)
        self._writing = threading.Lock()
        self._spaces: dict[str, UiState] = {}
        self._space: UiState | None = None

    def enter(self, identity: str) -> None:
        """Remember what belongs to the space of that identity apart from what belongs to its user, from now on.

        What the user's own file has of it, as earlier versions wrote it, goes to the space that is entered first.
        """
        if identity not in self._spaces:
            name = hashlib.sha256(identity.encode()).hexdigest()[:32]
            self._spaces[identity] = UiState(
                None if self._path is None else self._path.parent / "spaces" / f"{name}.json"
            )
        self._space = space = self._spaces[identity]
        self.complaint = self.complaint or space.complaint
        for key in [key for key in self.values if key.startswith(OF_THE_SPACE)]:
            space.values.setdefault(key, self.values.pop(key))

    def get(self, key: str, default: Any) -> Any:
        """Return what is remembered under a key such as `runs.filter`, when it has the default's type; else that."""
        value = self._of(key).values.get(key, default)
        return value if isinstance(value, type(default)) else default

    def set(self, key: str, value: JSON) -> None:
        """Remember a value. It is on the disk after `write`."""
        self._of(key).values[key] = value

    def _of(self, key: str) -> UiState:
        return self._space if self._space is not None and key.startswith(OF_THE_SPACE) else self

    def write(self) -> None:
        """Put everything on the disk, each file whole or not at all. Raises Invalid where that cannot be."""
        if self._space is not None:
            self._space.write()
        with self._writing:
            values = dict(self.values)
            if self._path is None or values == self._written:
                return
            with suppress(OSError):
                self._path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self._path, f"{json.dumps(values, ensure_ascii=False, indent=1)}\n".encode())
            self._written = values

    def _read(self) -> dict[str, JSON]:
        if self._path is None:
            return {}
        try:
            with self._path.open("rb") as file:
                data = file.read(MAX_FILE_BYTES + 1)
            value = read_json(data, what="it", max_bytes=MAX_FILE_BYTES)
            if not isinstance(value, dict):
                raise InvalidJSON("it holds no JSON object")
        except FileNotFoundError:
            return {}
        except (OSError, InfospaceError) as error:
            why = error.strerror if isinstance(error, OSError) else getattr(error, "message", str(error))
            self.complaint = (
                f"What the screen remembered in {str(self._path)!r} cannot be read, so it starts empty: {why}"
            )
            return {}
        return dict(value)
