"""The model that a space was told to use, by its name or its folder.

A name is one that fastembed lists, or that of the default model with weights of 8 bits.

A folder has `model.onnx` (with its data beside it, if it is in several files), `tokenizer.json`,
`tokenizer_config.json` with `model_max_length`, and `config.json` with `hidden_size`. How tokens' vectors
become a text's stands in `1_Pooling/config.json`, as sentence-transformers write it; without that, their mean.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from infospace.core.errors import ModelError, NotFound
from infospace.search.models import default_weights as weights
from infospace.search.models.fastembed_download import fetch, listed
from infospace.search.models.find import (
    DEFAULT_MODEL,
    DEFAULT_THRESHOLD,
    ModelInfo,
    Pooling,
    cache_folder,
    content_key,
    describe,
    find_model,
    get_model,
    verified_or_aside,
)
from infospace.search.models.int8 import INT8_MODEL, find_int8, get_int8
from infospace.search.models.onnx_graph import GRAPH_FILE

if TYPE_CHECKING:
    from infospace.search.models.default_weights import Progress
    from infospace.store.protocol import Chosen

SETTINGS = ("tokenizer_config.json", "config.json")
POOLING_FILE = "1_Pooling/config.json"
_POOLINGS: dict[str, Pooling] = {
    "pooling_mode_cls_token": "CLS",
    "pooling_mode_mean_tokens": "MEAN",
    "pooling_mode_lasttoken": "LAST_TOKEN",
}


def resolve(name: str) -> str:
    """Return a model's name as fastembed writes it, or that of weights of 8 bits, or a folder's absolute path.

    Raises NotFound for what is neither, with the names that are near.
    """
    folder = Path(name).expanduser()
    if os.path.isdir(folder):  # noqa: PTH112 - Path.is_dir raises for a name that no folder can have
        return str(folder.resolve())
    if folder.is_absolute() or name.startswith((".", "~")):
        raise NotFound(f"there is no folder {name!r}", hint="a folder with model.onnx and tokenizer.json, or a name")
    names = [*listed(), INT8_MODEL]
    same = next((known for known in names if known.lower() == name.lower()), None)
    if same is not None:
        return same
    near = _near(name, names)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"for example {', '.join(names[:3])}"
    raise NotFound(f"there is no embedding model {name!r:.200}", hint=hint)


def _near(name: str, names: list[str]) -> list[str]:
    """Return up to three names like one, with its maker or without."""
    from difflib import get_close_matches

    short = {known.rsplit("/", 1)[-1].lower(): known for known in names}
    whole = {known.lower(): known for known in names}
    close = [whole[close_name] for close_name in get_close_matches(name.lower(), whole, n=3)]
    last = name.rsplit("/", 1)[-1].lower()
    close += [short[close_name] for close_name in get_close_matches(last, short, n=3)]
    return list(dict.fromkeys(close))[:3]


def find_named(name: str) -> ModelInfo | None:
    """Return a model that is on this machine, None when it is not, or is damaged in our cache.

    `name` is as `resolve` gives it. Raises ModelError for a folder that has no model in it.
    """
    if name == DEFAULT_MODEL:
        return find_model()
    if name == INT8_MODEL:
        return find_int8()
    if _is_folder(name):
        return _own(Path(name))
    folder = _cached(name)
    with suppress(ModelError):  # what is damaged here is fetched anew by get_named
        if weights.read_manifest(folder) is not None:
            return describe(folder)
    return None


def get_named(name: str, progress: Progress | None = None) -> ModelInfo:
    """Return a model, fetched if need be and its hashes checked; `name` is as `resolve` gives it.

    Raises ModelError when it cannot be had, or a folder has no model in it.
    """
    if name == DEFAULT_MODEL:
        return get_model(progress)
    if name == INT8_MODEL:
        return get_int8(progress)
    model_info = find_named(name)
    if model_info is not None and _is_folder(name):
        return model_info
    model_info = model_info and verified_or_aside(model_info)
    if model_info is None:
        model_info = verified_or_aside(describe(fetch(name, _cached(name), progress=progress)))
    if model_info is None:
        raise ModelError(f"what was downloaded of {name} was changed while it was being checked", hint="try again")
    return model_info


def model_of(chosen: Chosen | None) -> ModelInfo:
    """Return the model that a space uses, by its choice; the default one when it made none.

    Raises ModelError, with what to do, when that model is not on this machine, or is another than the one
    that was chosen.
    """
    model_info = find_model() if chosen is None else find_named(chosen.name)
    if chosen is None:
        if model_info is None:
            raise ModelError(
                "there are no embedding weights on this machine, so nothing can be searched by meaning",
                hint="`infospace model get` fetches them; or INFOSPACE_MODEL_DIR names a folder that has them",
            )
        return model_info
    if model_info is None:
        raise ModelError(
            f"this space uses the embedding model {chosen.name!r}, which is not on this machine",
            hint="`infospace model get` fetches it; `infospace model use` takes another",
        )
    if model_info.key != chosen.key:
        raise ModelError(
            f"the embedding model {chosen.name!r} is not the one that this space was embedded with: "
            f"it was {chosen.key}, and is {model_info.key}",
            hint=f"`infospace model use {chosen.name}` embeds all notes again with what is there now",
        )
    return replace(model_info, threshold=chosen.threshold)


def model_name_and_threshold(chosen: Chosen | None) -> tuple[str, float]:
    """Return name and threshold of the model that a space uses, on this machine or not."""
    return (DEFAULT_MODEL, DEFAULT_THRESHOLD) if chosen is None else (chosen.name, chosen.threshold)


def _is_folder(name: str) -> bool:
    return Path(name).is_absolute()


def _cached(name: str) -> Path:
    return cache_folder() / "models" / f"{name.replace('/', '--')}-fastembed-{weights.LAYOUT}"


def _own(folder: Path) -> ModelInfo:
    """Return the model in a folder of one's own; ModelError names what is missing."""
    if weights.read_manifest(folder) is not None:
        return describe(folder)
    for file in (GRAPH_FILE, weights.TOKENIZER_FILE, *SETTINGS):
        if not (folder / file).is_file():
            raise ModelError(
                f"the folder {str(folder)!r} has no {file}, so there is no model in it",
                hint=f"it should have {GRAPH_FILE}, {weights.TOKENIZER_FILE}, {' and '.join(SETTINGS)}",
            )
    data = sorted(path.name for path in folder.glob("model.onnx*"))
    files = (*data, weights.TOKENIZER_FILE, *SETTINGS, "special_tokens_map.json", POOLING_FILE)
    key = content_key(folder, folder.name, files)
    return replace(describe(folder), name=str(folder), key=key, pooling=_pooling(folder / POOLING_FILE))


def _pooling(path: Path) -> Pooling:
    """Read how tokens' vectors become a text's; ModelError when it is in a way that is not supported."""
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
        on = [way for way, is_on in config.items() if way.startswith("pooling_mode_") and is_on is True]
    except FileNotFoundError:
        return "MEAN"
    except (OSError, ValueError, AttributeError) as error:
        raise ModelError(f"{str(path)!r} cannot be read: {error}") from error
    if len(on) != 1 or on[0] not in _POOLINGS:
        raise ModelError(
            f"{str(path)!r} asks for {' and '.join(on) or 'no pooling'}", hint=f"one of {', '.join(_POOLINGS)}"
        )
    return _POOLINGS[on[0]]
