"""Runs that began at a step of another one: they and all others that did belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infospace.core.errors import NotFound

if TYPE_CHECKING:
    from infospace.store.protocol import Snapshot


def first_of(snapshot: Snapshot, run: str) -> str:
    """Return the run from which a run was forked, by way of others or not; one that was no fork is its own."""
    found = run
    while True:
        try:
            forked = snapshot.run(found).forked
        except NotFound:
            return found
        if forked is None:
            return found
        found = forked
