"""Which space a command works on, and how resources are named on the command line."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from infospace.core.errors import NotFound, StoreError
from infospace.core.ids import is_id
from tui.text.output import UsageError, escape_controls
from tui.text.paths import path_of

if TYPE_CHECKING:
    from infospace.space import Space
    from infospace.store.protocol import Snapshot, TrackedFile


def address_of(args: argparse.Namespace) -> str:
    """Return the space's address: `--space`, else INFOSPACE_SPACE, else the user's own data folder."""
    if args.space is not None and not args.space.strip():
        raise UsageError("--space names no file", hint="leave it away for your own space")
    value = args.space or os.environ.get("INFOSPACE_SPACE")
    if value:
        return str(value)
    from platformdirs import user_data_dir

    return str(Path(user_data_dir("infospace", appauthor=False)) / "infospace.db")


def open_from(args: argparse.Namespace, *, create: bool, new: bool = False) -> Space:
    """Open the space of a command. One that only looks treats a missing file as an empty space.

    It says so where the file was named, unless a `new` space serves the command as well.
    """
    from infospace.space import open_space

    try:
        space = open_space(address_of(args), create=create)
    except StoreError as error:
        raise UsageError(error.message, hint=error.hint) from error
    if args.space and not (create or new) and "://" not in args.space and not path_of(args.space).exists():
        sys.stderr.write(f"infospace: there is no space {escape_controls(args.space)!r} yet, and so nothing in it\n")
    return space


def find(snapshot: Snapshot, reference: str) -> str:
    """Return the id that an id, a name, or the path of an imported file stands for.

    A path is absolute, relative to here, or as under its root; `#3` behind it is the third row. What is none of these
    may be a title, or an alias, in small letters or capitals. Raises NotFound, with the candidates when several fit.
    """
    if is_id(reference):
        return reference
    name = snapshot.named(reference)
    if name is not None:
        return name
    from infospace.store.called import notes_titled, paths, titles

    absolute = str(path_of(reference).absolute())
    known = dict(paths(snapshot))
    exact = [file for file, path in known.items() if str(Path(file.root) / path) == absolute]
    below = [file for file, path in known.items() if path == reference or path.endswith(f"/{reference}")]
    candidates = exact or below
    if len({file.note for file in candidates}) == 1:
        return candidates[0].note
    if not candidates:
        titled = notes_titled(snapshot, reference)
        if len(titled) == 1:
            return titled[0]
        if titled:
            raise NotFound(
                f"{reference!r} is the title of {len(titled)} notes: {', '.join(titled[:8])}", hint="give the id"
            )
    if candidates:
        listed = ", ".join(f"{file.note} ({Path(file.root) / known[file]})" for file in candidates[:8])
        raise NotFound(f"{reference!r} fits {len(candidates)} notes: {listed}", hint="give the id or the whole path")
    if rows := _rows(list(known), reference):
        first = f"{reference}#{rows[0].part}"
        raise NotFound(f"{reference!r} is {len(rows):,} notes, one a row", hint=f"name a row, as in {first!r}")
    from infospace.data.paths import nearest

    near = nearest(reference, [*snapshot.names(), *titles(snapshot), *known.values()])
    raise NotFound(
        f"there is no id, name, imported file or title {reference!r}",
        hint=f"did you mean {near!r}?" if near else "`infospace notes` lists what there is",
    )


def find_rows(snapshot: Snapshot, reference: str) -> list[TrackedFile]:
    """Return the rows of the one imported file that has such a path, where its rows are notes; else none."""
    return [] if is_id(reference) or snapshot.named(reference) else _rows(snapshot.tracked(), reference)


def _rows(tracked: Sequence[TrackedFile], reference: str) -> list[TrackedFile]:
    absolute = str(path_of(reference).absolute())
    rows = [file for file in tracked if file.part]
    exact = [file for file in rows if str(Path(file.root) / file.path) == absolute]
    fits = exact or [file for file in rows if file.path == reference or file.path.endswith(f"/{reference}")]
    return fits if len({(file.root, file.path) for file in fits}) == 1 else []
