"""Which store an address is of: a path is an SQLite file's, `postgresql://…` a database's.

Any other `SCHEME://…` is that of the package that knows the scheme.

Such a package names its function, of the shape of `open_store`, under the entry point `infospace.stores` by its
scheme. The function raises StoreError where it cannot open; without `create` it makes nothing that lasts.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from infospace.core.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable

    from infospace.store.protocol import Store

GROUP = "infospace.stores"


def open_store(address: str | Path, *, create: bool) -> Store:
    """Open the store of an address; one that is missing is made, or with `create` false stands for an empty one.

    Raises StoreError where it cannot be opened, or nothing installed knows its scheme.
    """
    scheme, is_one, _ = str(address).partition("://")
    if not is_one or isinstance(address, Path):
        from infospace.store import sqlite

        return sqlite.open_store(address, create=create)
    if scheme in ("postgresql", "postgres"):
        try:
            from infospace.store import postgres
        except ImportError as error:
            raise StoreError(
                f"a space in a database needs {error.name}, which is not installed",
                hint='pip install "infospace[postgres]"',
            ) from error
        return postgres.open_store(address, create=create)
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP, name=scheme):
        opener = cast("Callable[..., Store]", point.load())
        return opener(address, create=create)
    raise StoreError(
        f"no store that is installed here opens {scheme}:// addresses",
        hint=f"name a file; or install a package that brings {scheme!r} under the entry point `{GROUP}`",
    )
