"""What happens, for whoever keeps a process going: searches, calls, retries, leases and locks.

The packages tell it to Python's `logging`, by their modules' names; a program that uses them decides what becomes of
it. Nothing that is told holds arguments, contents or secrets.
"""

from __future__ import annotations

import logging
from pathlib import Path

from infospace.core.errors import Invalid

PACKAGES = ("infospace", "planner", "primitives", "tui")
LEVELS = {"debug": logging.DEBUG, "info": logging.INFO}

_FORM = "%(asctime)s.%(msecs)03d %(levelname)s %(name)s: %(message)s"


_written: list[logging.Handler] = []
"""What it is written by now."""


def write_log(*, verbose: bool, question: str | None, screen: bool = False) -> None:
    """Have it written to standard error where it is `verbose`, and as `question`: a level for that, or a file.

    What was asked for before no longer holds. A `screen` has no room for it beside itself. Raises Invalid for that,
    and for a file that cannot be written.
    """
    for handler in tuple(_written):
        _end(handler)
    question = (question or "").strip()
    level = LEVELS.get(question.lower())
    if question and level is None:
        _write(_file(question), logging.INFO)
    if screen and verbose:
        raise Invalid("the screen has no room for what -v writes", hint="INFOSPACE_LOG=/path/to/file writes it there")
    if not screen and (verbose or level is not None):
        _write(logging.StreamHandler(), level or logging.INFO)


def _file(path: str) -> logging.Handler:
    if "/" not in path and "." not in path:
        raise Invalid(f"INFOSPACE_LOG is {path!r}", hint="debug, info, or the path of a file, such as ./infospace.log")
    try:
        return logging.FileHandler(Path(path).expanduser(), encoding="utf-8")
    except OSError as error:
        raise Invalid(f"INFOSPACE_LOG names {path!r}, which cannot be written: {error.strerror}") from error


def _end(handler: logging.Handler) -> None:
    for name in PACKAGES:
        logging.getLogger(name).removeHandler(handler)
    handler.close()
    _written.remove(handler)


def _write(handler: logging.Handler, level: int) -> None:
    handler.setFormatter(logging.Formatter(_FORM, "%Y-%m-%d %H:%M:%S"))
    handler.setLevel(level)
    _written.append(handler)
    for name in PACKAGES:
        logger = logging.getLogger(name)
        logger.addHandler(handler)
        logger.setLevel(min(level, logger.level or level))
