"""The environment of a server that is a process: what its entry names, and little of ours.

Of our own variables a server gets those that programs need to find themselves, their files and their language:
`HOME`, `LOGNAME`, `PATH`, `SHELL`, `TERM`, `USER` (what the official package hands on), `LANG`, `LANGUAGE`, `LC_…`,
`TZ`, `TMPDIR`, `TEMP`, `TMP`, `XDG_…_HOME`, `XDG_RUNTIME_DIR`, and where certificates are (`SSL_CERT_FILE`,
`SSL_CERT_DIR`, `NODE_EXTRA_CA_CERTS`). All else, keys above all, it gets where its entry says so:
`"env": {"API_KEY": "${API_KEY}"}`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

HANDED_ON = re.compile(
    "HOME|LOGNAME|PATH|SHELL|TERM|USER|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|TEMP|TMP|XDG_(CACHE|CONFIG|DATA|STATE)_HOME"
    "|XDG_RUNTIME_DIR|SSL_CERT_FILE|SSL_CERT_DIR|NODE_EXTRA_CA_CERTS"
)
"""Names of our own variables that every server gets."""


def child_environment(own: Mapping[str, str], named: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a server; a variable that is a shell's function is nobody's."""
    handed = {key: value for key, value in own.items() if HANDED_ON.fullmatch(key) and not value.startswith("()")}
    return {**handed, **named}
