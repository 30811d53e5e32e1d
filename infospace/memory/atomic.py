"""Writing a file so that it is there whole, or as it was."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from infospace.errors import Invalid


def write_atomically(path: Path, data: bytes) -> None:
    """Put bytes at a path by way of a file beside it, with the rights of the file that was there.

    Raises Invalid when the system does not let it.
    """
    beside = path.with_name(f".{path.name[:100]}.{secrets.token_hex(6)}")
    try:
        mode = path.stat().st_mode & 0o7777 if path.is_file() else None
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
            file.write(data)
        if mode is not None:
            beside.chmod(mode)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise Invalid(f"{str(path)!r} cannot be written: {error.strerror}", hint="look at its rights") from None
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
