"""What the name of a resource may be."""

from __future__ import annotations

import unicodedata

from infospace.core.errors import Invalid
from infospace.core.ids import is_id, is_run_id

MAX_NAME_CHARACTERS = 200
"""Characters in a name, after normalisation."""


def normalise(name: str) -> str:
    """Return the form in which names are compared: NFC."""
    return unicodedata.normalize("NFC", name)


def validate_name(name: str) -> str:
    """Return a name as it is stored; Invalid when it cannot be one."""
    name = normalise(name)
    if not name.strip():
        raise Invalid("a name is empty", hint="a name has at least one character that shows")
    if len(name) > MAX_NAME_CHARACTERS:
        raise Invalid(f"the name {name[:30]!r}… has {len(name)} characters", hint=f"at most {MAX_NAME_CHARACTERS}")
    if name.startswith("$"):
        raise Invalid(f"the name {name!r} begins with $, which variables do", hint=f"{name.lstrip('$')!r}")
    if is_id(name) or is_run_id(name):
        raise Invalid(f"the name {name!r} has the form of an id", hint="put a word before or behind it")
    for character in name:
        if unicodedata.category(character) in ("Cc", "Cs"):
            raise Invalid(f"the name {name!r} holds the control character {character!r}", hint="leave it out")
    return name


def name_error(name: str) -> Invalid | None:
    """Return what is wrong with a name, None when it can be one."""
    try:
        validate_name(name)
    except Invalid as error:
        return error
    return None
