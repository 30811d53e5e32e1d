"""Collections of tools and judged requests, and how good a ranking of them is."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from infospace.core.tool import Tool
from infospace.tools.search.documents import fields_of

DEPTH = 10
RESAMPLES = 10_000


class Request(NamedTuple):
    """What was asked, and the places of the right tools with their grades."""

    text: str
    right: dict[int, int]


@dataclass(frozen=True)
class Judged:
    """Tools, and requests that were judged."""

    name: str
    tools: list[Tool]
    requests: list[Request]
    vain: Sequence[str] = ()
    """Requests that none of the tools does."""
    chosen_on: bool = True
    """Whether the settings were chosen on the odd requests, so that only the even ones count."""

    @property
    def texts(self) -> list[str]:
        """What each tool says of itself: name, title, description, parameters; what plain methods search."""
        said = ((tool.name, tool.title, tool.description, fields_of(tool).parameters) for tool in self.tools)
        return [" ".join(filter(None, parts)) for parts in said]

    @property
    def counting(self) -> range:
        """The places of the requests that count."""
        return self.half(1) if self.chosen_on else range(len(self.requests))

    def half(self, which: int) -> range:
        """The places of the odd (0) or the even (1) requests."""
        return range(which, len(self.requests), 2)


def judged(folder: Path) -> Judged:
    """Read a collection: `corpus.jsonl`, `queries.jsonl` (`_id`, `text`), `qrels/test.tsv`.

    A tool has `_id`, its name, and `text`, its description, which may begin with the name; and perhaps `server`,
    `title` and `input_schema`.
    """
    documents = [json.loads(line) for line in (folder / "corpus.jsonl").open(encoding="utf-8")]
    questions = [json.loads(line) for line in (folder / "queries.jsonl").open(encoding="utf-8")]
    places = {one["_id"]: at for at, one in enumerate(documents)}
    grades: dict[str, dict[int, int]] = {}
    for line in (folder / "qrels" / "test.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        question, document, grade = line.split("\t")
        if document in places and int(grade) > 0:
            grades.setdefault(question, {})[places[document]] = int(grade)
    tools = [
        Tool(
            one.get("server", folder.name),
            one.get("name", one["_id"]),
            one["text"].removeprefix(one["_id"]).strip(),
            one.get("input_schema", {"type": "object"}),
            title=one.get("title", ""),
        )
        for one in documents
    ]
    requests = [Request(one["text"], grades[one["_id"]]) for one in questions if one["_id"] in grades]
    return Judged(folder.name, tools, requests)


class Quality(NamedTuple):
    """How good one ranking is, or the mean of many."""

    ndcg: float
    recall_1: float
    recall_5: float
    recall_10: float
    all_right: float
    """Whether all right tools are among the first ten."""


def quality(ranking: Sequence[int], right: dict[int, int]) -> Quality:
    """Judge one ranking, given as places; gains are linear (Järvelin, Kekäläinen 2002)."""
    discount = [1 / math.log2(place + 2) for place in range(DEPTH)]
    gained = sum(right.get(one, 0) * by for one, by in zip(ranking, discount, strict=False))
    best = sum(grade * by for grade, by in zip(sorted(right.values(), reverse=True), discount, strict=False))
    recalled = [len(set(ranking[:depth]) & right.keys()) / len(right) for depth in (1, 5, DEPTH)]
    return Quality(gained / best, recalled[0], recalled[1], recalled[2], float(recalled[2] == 1))


def mean(found: Sequence[Quality]) -> Quality:
    """Return the means."""
    return Quality(*np.mean(np.array(found), axis=0).tolist())


def auroc(fitting: NDArray[np.float64], others: NDArray[np.float64]) -> float:
    """Return how often one of the first is above one of the others, ties half (Mann, Whitney 1947)."""
    ranked = np.sort(others)
    below = (np.searchsorted(ranked, fitting, "left") + np.searchsorted(ranked, fitting, "right")) / 2
    return float(below.mean() / len(others)) if len(others) else float("nan")


def interval(ours: Sequence[float], theirs: Sequence[float], seed: int = 1) -> tuple[float, float]:
    """Return the 95 % interval of the mean difference by paired bootstrap (Efron 1979), 10,000 resamples."""
    differences: NDArray[np.float64] = np.array(ours) - np.array(theirs)
    chosen = np.random.default_rng(seed).integers(len(differences), size=(RESAMPLES, len(differences)))
    low, high = np.quantile(differences[chosen].mean(axis=1), (0.025, 0.975))
    return float(low), float(high)
