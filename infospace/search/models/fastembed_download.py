"""Models as fastembed lists and downloads them, kept as folders of our own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from infospace.core.errors import ModelError
from infospace.core.installation import REINSTALL
from infospace.search.models import default_weights as weights
from infospace.search.models.default_weights import Progress

FROM_FASTEMBED = "fastembed's own download"

MOST_TOKENS = 512
"""The longest window that is used. Attention's memory grows with its square: 8,192 tokens, which some models
allow, take gigabytes, and one vector for so much text says little of any part of it."""


def listed() -> dict[str, dict[str, Any]]:
    """Return what fastembed says of each model that it supports, by name; ModelError when it is not installed."""
    try:
        from fastembed import TextEmbedding
    except ModuleNotFoundError as error:
        raise ModelError(f"{error.name} is not installed", hint=REINSTALL) from error
    return {description["model"]: description for description in TextEmbedding.list_supported_models()}


def fetch(name: str, to: Path, settings: dict[str, Any] | None = None, progress: Progress | None = None) -> Path:
    """Let fastembed fetch a model, one try a source, and keep it as the folder `to`; return `to`.

    `settings` replaces the model's tokenizer_config.json. The folder appears whole or not at all, with a
    manifest that says what is in it. Raises ModelError when the model cannot be had.
    """
    document = listed()[name]
    with (
        weights.working_folder(to.parent, "fastembed") as cache,
        weights.working_folder(to.parent, to.name) as work,
    ):
        if progress is not None:
            progress(f"downloading {name} with fastembed")
        _copy(document, cache, work)
        tokens = _settle(work, settings)
        release = weights.sha256_of(work / document["model_file"])
        weights.write_manifest(work, name, FROM_FASTEMBED, release, dimension=document["dim"], max_tokens=tokens)
        weights.into_place(work, to)
    return to


def _copy(document: dict[str, Any], cache: Path, work: Path) -> None:
    """Put the model's files into `work` as they lie in its release."""
    from fastembed import TextEmbedding
    from fastembed.common.model_description import DenseModelDescription, ModelSource
    from loguru import logger

    logger.disable("fastembed")
    description = DenseModelDescription(**{**document, "sources": ModelSource(**document["sources"])})
    try:
        folder = Path(TextEmbedding.download_model(description, str(cache), retries=1))
        shutil.copytree(folder, work, dirs_exist_ok=True)
    except (ValueError, OSError) as error:
        own = "`infospace model use FOLDER` takes a folder that has the model; a download needs the model hub"
        hint = weights.OTHER_WAYS if document["model"] == weights.MODEL else own
        raise ModelError(f"fastembed could not download {document['model']}: {error}", hint=hint) from error
    finally:
        logger.enable("fastembed")


def _settle(work: Path, settings: dict[str, Any] | None) -> int:
    """Write how many tokens a text may have where fastembed reads it, and return it."""
    path = work / "tokenizer_config.json"
    try:
        results = dict(settings) if settings is not None else json.loads(path.read_text(encoding="utf-8"))
        tokens = min([MOST_TOKENS, *limits(results)])
    except (OSError, ValueError, AttributeError) as error:
        raise ModelError(f"the model that was downloaded has no usable tokenizer_config.json: {error}") from error
    path.write_text(json.dumps({**results, "max_length": tokens}, indent=1), encoding="utf-8")
    return tokens


def limits(settings: dict[str, Any]) -> list[int]:
    """Return the windows that a tokenizer_config.json gives, in tokens; some give 10 ** 30 for none."""
    given = [settings.get("model_max_length"), settings.get("max_length")]
    return [limit for limit in given if isinstance(limit, int) and 0 < limit < 1 << 20]
