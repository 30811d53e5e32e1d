"""Fetching the default embedding model where a command needs it, the first time on a machine."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from infospace.core.errors import ModelError
from tui.text.output import Output

if TYPE_CHECKING:
    from infospace.space import Space


def fetch_missing(space: Space, out: Output) -> bool:
    """Fetch the default model where the space uses it and it is not on this machine; say whether it was fetched.

    What is fetched, and how much it is, is told before it is. A model that the space was told to use is for
    `infospace model get`. Raises ModelError when it cannot be had.
    """
    from infospace.search.models.find import find_model, get_model

    if find_model() is not None:
        return False
    with space.store.reading() as snapshot:
        if snapshot.chosen() is not None:
            return False
    get_model(out.talk)
    return True


def fetch_or_tell(space: Space, out: Output) -> None:
    """Fetch the model where it is missing, or say why it cannot be had: all but search by meaning works without it."""
    try:
        fetch_missing(space, out)
    except ModelError as error:
        out.talk(f"nothing can be searched by meaning yet: {error}", "yellow")


def fetch_in_background(space: Space, out: Output) -> None:
    """Do so beside the server, whose client waits for no download; until it is done a search says what is missing."""
    threading.Thread(target=fetch_or_tell, args=(space, out), name="embedding model", daemon=True).start()
