"""Giving a space another embedding model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from infospace.core.errors import StoreError
from infospace.search.embedding.passages import POLICY
from infospace.search.models.custom import get_named, resolve
from infospace.search.models.find import DEFAULT_MODEL, ModelInfo
from infospace.store.protocol import Chosen

if TYPE_CHECKING:
    from infospace.search.models.default_weights import Progress
    from infospace.space import Space


@dataclass(frozen=True, slots=True)
class InspectedModel:
    """A model that is on this machine and runs, with its own threshold; `chosen` is None for the default one."""

    info: ModelInfo
    chosen: Chosen | None


def inspect_model(name: str, progress: Progress | None = None) -> InspectedModel:
    """Find or fetch a model, run it, and measure its threshold; no space is touched.

    `name` is one that fastembed lists, in any case of letters, or a folder. Raises NotFound for what is
    neither, with the names that are near; ModelError when it cannot be had, loaded or run.
    """
    from infospace.search.embedding.embedder import Embedder
    from infospace.search.models.threshold import measure_threshold

    known = resolve(name)
    info = get_named(known, progress)
    if known == DEFAULT_MODEL:
        return InspectedModel(info, None)
    if progress is not None:
        progress("measuring its threshold")
    threshold = measure_threshold(Embedder(info))
    return InspectedModel(replace(info, threshold=threshold), Chosen(known, info.key, threshold))


def choose(space: Space, looked: InspectedModel) -> None:
    """Have the space keep a model as its own; its Notes wait to be embedded, unless they were with that one.

    Vectors of earlier models stay, and are used again when the space goes back to them. Raises StoreError
    when the space cannot be written.
    """
    if not space.store.writable:
        raise StoreError(f"the space {space.store.address!r} can be read, not written", hint="copy it, and use that")
    space.store.choose_model(f"{looked.info.key}/{POLICY}", looked.chosen)
