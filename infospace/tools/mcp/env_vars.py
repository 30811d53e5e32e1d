"""`${VAR}` in an entry of `mcp.json`: what the environment has under the name, else what stands behind `:-`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from infospace.core.errors import Invalid
from infospace.tools.mcp.config import Entry

ORDINARY = ("HOME", "LANG", "LOGNAME", "PATH", "PWD", "SHELL", "TERM", "TMPDIR", "USER")
"""Variables whose values nobody has to hide."""

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


def expanded(entry: Entry, environment: Mapping[str, str]) -> Entry:
    """Return an entry without variables in what says how its server is reached: all but what is told of it.

    Raises Invalid that names each unset one.
    """
    missing: list[str] = []

    def fill(text: str) -> str:
        return filled_in(text, environment, missing)

    filled = replace(
        entry,
        command=None if entry.command is None else fill(entry.command),
        cwd=None if entry.cwd is None else fill(entry.cwd),
        args=tuple(fill(text) for text in entry.args),
        env={name: fill(text) for name, text in entry.env.items()},
        url=None if entry.url is None else fill(entry.url),
        headers={name: fill(text) for name, text in entry.headers.items()},
        roots=tuple(fill(text) for text in entry.roots),
        oauth=None if entry.oauth is None else entry.oauth.filled(fill),
        openapi=None if entry.openapi is None else fill(entry.openapi),
        base_url=None if entry.base_url is None else fill(entry.base_url),
        auth={name: fill(text) for name, text in entry.auth.items()},
    )
    if missing:
        names = ", ".join(dict.fromkeys(missing))
        message = f"the entry of {entry.name!r} needs what the environment has not: {names}"
        raise Invalid(message, hint="set it, or write `${NAME:-default}`")
    return filled


def values_in(entry: Entry, environment: Mapping[str, str]) -> list[str]:
    """Return the values that variables have in the command, the arguments and the URLs of an entry."""
    texts = (entry.command or "", entry.url or "", entry.openapi or "", entry.base_url or "", *entry.args)
    names = [match[1] for text in texts for match in _VARIABLE.finditer(text)]
    return [environment[name] for name in names if name in environment and name not in ORDINARY]


def filled_in(text: str, environment: Mapping[str, str], missing: list[str]) -> str:
    """Return a text without variables; the unset ones are added to `missing`."""
    return _VARIABLE.sub(lambda found: _value(found, environment, missing), text)


def _value(match: re.Match[str], environment: Mapping[str, str], missing: list[str]) -> str:
    value: str | None = environment.get(match[1], match[2])
    if value is None:
        missing.append(match[1])
        return ""
    return value
