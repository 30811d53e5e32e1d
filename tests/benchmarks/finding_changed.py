"""The search for tools with one of its parts taken out, or one of its numbers changed: for what-if tables."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from infospace.core.tool import Tool
from infospace.tools.search.documents import Fields, fields_of

ROOM = "infospace.tools.search"


def _whole(request: str) -> list[str]:
    return [request]


def _as_is(text: str) -> str:
    return text


def _name_and_description(tool: Tool) -> Fields:
    return Fields(*fields_of(tool)[:3], "", "", "", "")


def _without_server(tool: Tool) -> Fields:
    return fields_of(tool)._replace(server="")


CHANGES: Mapping[str, Mapping[str, Any]] = {
    "without the parts of a request": {"request.split_request": _whole},
    "without a request less its values": {"request.without_values": _as_is},
    "without split names": {"tokenize.edged": _as_is, "documents.edged": _as_is},
    "without a vector for the name": {"vectors.NAME_SHARE": 0.0},
    "without taking the common away": {"vectors.TOOLS_TO_TELL": float("inf")},
    "without what a server is for": {"vectors.SERVER_SHARE": 0.0, "finder.fields_of": _without_server},
    "without parameters, results and labels": {"finder.fields_of": _name_and_description},
    "without weight for the name": {"lexical.bm25f.WEIGHTS": {}},
    "without stand-ins for unknown words": {"lexical.typos.WORD_ALIKE": 2.0},
    "words alone": {"scoring.BM25_PER_COSINE": 1e-3, "scoring.EVEN": 25_000.0, "scoring.UNIT": 7_500.0},
    "meaning alone": {"scoring.BM25_PER_COSINE": 1e9},
}
"""What is set, by module and name in the room of finding, to take a part out.

Words alone are evidence of another size, so the numbers that evidence is read by grow with it; else all tools with a
word are as good as certain, and stand in no order.
"""


@contextmanager
def changed(changes: Mapping[str, Any]) -> Iterator[None]:
    """Set what `changes` says, for as long as the block runs."""
    with ExitStack() as stack:
        for place, value in changes.items():
            module, _, name = place.rpartition(".")
            stack.enter_context(patch.object(importlib.import_module(f"{ROOM}.{module}"), name, value))
        yield
