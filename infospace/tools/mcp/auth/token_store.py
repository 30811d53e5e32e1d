"""Where tokens are kept: in the keyring of the operating system, else in a file that its owner alone may read.

What may be read without the keyring is a record beside it: which server, where its tokens are, and until when the one
for access holds.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from infospace.core.errors import InfospaceError

SERVICE = "infospace"
OWNER_ALONE = 0o600
Place: TypeAlias = Literal["keyring", "file"]


class TokensUnreadable(InfospaceError):
    """Tokens that are kept and cannot be read or written now, as of a keyring that is locked."""

    kind = "tokens_unreadable"


@dataclass(frozen=True, slots=True)
class TokenRecord:
    """What is known of the tokens of a server without reading them."""

    place: Place
    expires: float | None
    """When the token for access ends, in seconds since 1970; None where that is not told."""
    refreshable: bool
    """Whether it is renewed without a person."""


class TokenStore:
    """The tokens for one URL and one client."""

    def __init__(self, url: str, client: str = "") -> None:
        self._name = hashlib.sha256(f"{url}\n{client}".encode()).hexdigest()
        self.path = folder() / f"{self._name}.json"

    def record(self) -> TokenRecord | None:
        """Return what is known without reading the tokens; None where there are none."""
        stored = self._read()
        if stored is None:
            return None
        place: Place = "keyring" if stored.get("place") == "keyring" else "file"
        expires = stored.get("expires")
        return TokenRecord(
            place, expires if isinstance(expires, int | float) else None, bool(stored.get("refreshable"))
        )

    def load(self) -> dict[str, Any] | None:
        """Return what was kept, None where there is nothing. Raises TokensUnreadable."""
        stored = self._read()
        if stored is None:
            return None
        if stored.get("place") != "keyring":
            secret = stored.get("secret")
            return secret if isinstance(secret, dict) else None
        backend = _keyring()
        if backend is None:
            message = "its tokens are in the keyring, which cannot be reached now"
            raise TokensUnreadable(message, hint="unlock it, or sign in again")
        try:
            text = backend.get_password(SERVICE, self._name)
        except Exception as error:
            raise TokensUnreadable(f"the keyring refused: {type(error).__name__}") from error
        with suppress(ValueError, TypeError):
            value = json.loads(text)
            return value if isinstance(value, dict) else None
        return None

    def save(self, secret: Mapping[str, Any], *, expires: float | None, refreshable: bool) -> Place:
        """Keep tokens; return where. Raises OSError where not even the file can be written."""
        place: Place = "keyring" if self._into_keyring(json.dumps(secret)) else "file"
        record: dict[str, Any] = {"place": place, "expires": expires, "refreshable": refreshable}
        if place == "file":
            record["secret"] = dict(secret)
        self._write(record)
        return place

    def forget(self) -> bool:
        """Drop the tokens; whether there were any."""
        stored = self._read()
        if stored is None:
            return False
        if stored.get("place") == "keyring" and (backend := _keyring()) is not None:
            with suppress(Exception):
                backend.delete_password(SERVICE, self._name)
        self.path.unlink(missing_ok=True)
        return True

    def _into_keyring(self, text: str) -> bool:
        backend = _keyring()
        if backend is None:
            return False
        try:
            backend.set_password(SERVICE, self._name, text)
            return bool(backend.get_password(SERVICE, self._name) == text)
        except Exception:  # noqa: BLE001 - every backend has errors of its own, and then there is the file
            return False

    def _read(self) -> dict[str, Any] | None:
        try:
            value = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return value if isinstance(value, dict) else None

    def _write(self, report: Mapping[str, Any]) -> None:
        """Put a new file in the place of the old one, readable to its owner alone from its first byte on."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, name = tempfile.mkstemp(dir=self.path.parent, prefix=".new-")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(report, file)
            Path(name).chmod(OWNER_ALONE)
            Path(name).replace(self.path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def folder() -> Path:
    """Return the folder of the records, in the user's own data folder."""
    from platformdirs import user_data_dir

    return Path(user_data_dir("infospace", appauthor=False)) / "authorizations"


def _keyring() -> Any | None:
    """Return the keyring of the operating system, None where there is none that keeps anything."""
    import keyring

    backend = keyring.get_keyring()
    return backend if backend.priority >= 1 else None
