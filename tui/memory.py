"""What the screen remembers between starts: its theme, the last place, and what each place wants to know again."""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from infospace.errors import InfospaceError, Unreadable
from infospace.jsontext import read_json
from infospace.jsonvalue import JSON
from infospace.memory.atomic import write_atomically

MOST = 1_000_000
"""Bytes of a file that is taken for one of ours."""


def usual_path() -> Path:
    """Return where the state of this user's screen is kept."""
    from platformdirs import user_state_dir

    return Path(user_state_dir("infospace", appauthor=False)) / "screen.json"


class Memory:
    """Values by place and key, kept in a file. What cannot be read or written is said once, and costs nothing else."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.complaint: str | None = None
        """What was wrong with the file, in a sentence."""
        self._values = self._read()
        self._written = dict(self._values)
        self._writing = threading.Lock()

    def get(self, key: str, default: Any) -> Any:
        """Return what is remembered under a key such as `runs.filter`, when it has the default's type; else that."""
        value = self._values.get(key, default)
        return value if isinstance(value, type(default)) else default

    def set(self, key: str, value: JSON) -> None:
        """Remember a value. It is on the disk after `write`."""
        self._values[key] = value

    def write(self) -> None:
        """Put everything on the disk, whole or not at all. Raises Invalid where that cannot be."""
        with self._writing:
            values = dict(self._values)
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
                data = file.read(MOST + 1)
            found = read_json(data, what="it", max_bytes=MOST)
            if not isinstance(found, dict):
                raise Unreadable("it holds no JSON object")
        except FileNotFoundError:
            return {}
        except (OSError, InfospaceError) as error:
            why = error.strerror if isinstance(error, OSError) else getattr(error, "says", str(error))
            self.complaint = (
                f"What the screen remembered in {str(self._path)!r} cannot be read, so it starts anew: {why}"
            )
            return {}
        return dict(found)
