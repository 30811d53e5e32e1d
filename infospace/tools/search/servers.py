"""Which servers a message needs: by what they say they are for, and by the tools that they list."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from infospace.core.errors import ModelError
from infospace.core.listener import NullListener
from infospace.search.embedding.service import seconds_in_search
from infospace.tools.search.documents import TEMPLATE
from infospace.tools.search.tokenize import tokenize
from infospace.tools.search.vectors import dot_products

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from infospace.search.embedding.service import Embedding

ABBREVIATIONS: Final[Mapping[str, str]] = {
    "auth": "authentication",
    "cal": "calendar",
    "cfg": "configuration",
    "cmd": "command",
    "config": "configuration",
    "conf": "configuration",
    "db": "database",
    "dbs": "databases",
    "deps": "dependencies",
    "dir": "directory",
    "dirs": "directories",
    "doc": "document",
    "docs": "documents",
    "env": "environment",
    "folder": "directory",
    "folders": "directories",
    "img": "image",
    "lib": "library",
    "libs": "libraries",
    "mr": "merge request",
    "mrs": "merge requests",
    "msg": "message",
    "msgs": "messages",
    "pic": "picture",
    "pics": "pictures",
    "pkg": "package",
    "pkgs": "packages",
    "pr": "pull request",
    "prs": "pull requests",
    "repo": "repository",
    "repos": "repositories",
    "src": "source",
    "tz": "time zone",
}
"""What short words stand for, in requests and in what servers say; `folder` is another word for a directory."""

_FILLERS = """
again also any anybody ask assist bit can could do does doing done first for get give go going good got great have hello
help helpful here hey hi how if in inside is it just know let like look made make me meet mine much my need nice now of
ok okay on one our out over please really see show some still tell thank thanks that the them there these thing this
those through to today try us very want was we what where which who will with would you your
"""
FILLERS: Final = frozenset(_FILLERS.split())
"""Words of a message that ask for nothing by themselves."""
UNKNOWN: Final = 0.5
"""What a word counts that no server has, beside one that one server has: names of things are often new."""

THRESHOLD: Final = 0.17
"""Evidence from which on a server is needed: words that tell servers apart, and meaning, each worth up to one half."""
SECOND_SERVER_FRACTION: Final = 0.75
"""Share of the best server's evidence from which on another one is needed for the same part of a message."""
COMPATIBLE_THRESHOLD: Final = 0.05
"""Cosine of counted words from which on a server is needed in the compatible mode."""

_WORD = re.compile(r"[A-Za-z]+")
_CLAUSE = re.compile(r"(?:[.;!?]\s+|,?\s+(?:and\s+)?(?:then|afterwards|after that)[,\s]+|;\s*)", re.IGNORECASE)
_COUNTED = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class ServerText:
    """What is known of a server: its name, what it is for, and its tools, each as name and description."""

    name: str
    description: str = ""
    tools: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class ServerChoice:
    """The servers that a message needs, in the order in which they were given, and how much there is for each.

    `unchanged` says why all were returned as they were; `degraded` which leg is down.
    """

    names: Sequence[str]
    scores: Mapping[str, float]
    unchanged: str | None = None
    degraded: str | None = None


def choose_servers(
    query: str, servers: Sequence[ServerText], embedding: Embedding, threshold: float = THRESHOLD
) -> ServerChoice:
    """Choose the servers that a message needs; none where nothing fits. A message may ask for several things."""
    if not servers or not query.strip():
        return ServerChoice([], {})
    clauses = _clauses(query)
    words = _word_evidence(clauses, servers)
    degraded = None
    try:
        results = (words + _meaning_evidence(clauses, servers, embedding)) / 2
    except ModelError as error:
        results, degraded = words, f"servers are chosen by words alone: {error}"
    best = results.max(axis=1, keepdims=True)
    needed = (results >= threshold) & (results >= SECOND_SERVER_FRACTION * best)
    scores = {one.name: round(float(score), 6) for one, score in zip(servers, results.max(axis=0), strict=True)}
    names = [one.name for one, expected in zip(servers, needed.any(axis=0), strict=True) if expected]
    return ServerChoice(names, scores, degraded=degraded)


def choose_compatibly(
    query: str, servers: Sequence[ServerText], threshold: float = COMPATIBLE_THRESHOLD
) -> ServerChoice:
    """Choose as RobotLab does: the cosine of counted words of the message and of name and description.

    All are returned as they were where the message is blank, no server has a description, or none reaches the
    threshold.
    """
    every = [server.name for server in servers]
    if not servers:
        return ServerChoice([], {})
    if not query.strip():
        return ServerChoice(every, {}, "the message is blank")
    if not any(server.description.strip() for server in servers):
        return ServerChoice(every, {}, "no server has a description")
    asked = Counter(_COUNTED.findall(query.casefold()))
    scores = {
        server.name: round(
            _cosine(asked, Counter(_COUNTED.findall(f"{server.name} {server.description}".casefold()))), 6
        )
        for server in servers
    }
    names = [name for name in every if scores[name] >= threshold]
    return ServerChoice(names, scores) if names else ServerChoice(every, scores, "no server reaches the threshold")


def written_out(text: str) -> str:
    """Return a text with its abbreviations written out."""
    return _WORD.sub(lambda found: ABBREVIATIONS.get(found[0].casefold(), found[0]), text)


def _clauses(query: str) -> list[str]:
    """Return the parts of a message that ask for something by themselves; words that ask for nothing belong to none."""
    parts = [written_out(part) for part in _CLAUSE.split(query) if part.strip()]
    return [part for part in parts if _content(part)] or [written_out(query)]


def _content(clause: str) -> set[str]:
    """Return the words of a part that ask for something."""
    return {word for word in tokenize(clause) if word not in FILLERS}


def _word_evidence(clauses: Sequence[str], servers: Sequence[ServerText]) -> NDArray[np.float64]:
    """Return how much of each clause's words each server has, rarer ones more: (clauses, servers), 0 to 1."""
    topics = [set(tokenize(written_out(f"{server.name} {server.description}"))) for server in servers]
    listed = [
        set(tokenize(written_out(" ".join(part for tool in server.tools for part in tool)))) for server in servers
    ]
    count = len(servers)
    results = np.zeros((len(clauses), count))
    rarest = math.log(1 + (count + 0.5) / 1.5)
    for row, clause in enumerate(clauses):
        words = _content(clause)
        total = 0.0
        for word in words:
            have = sum(word in topic or word in tools for topic, tools in zip(topics, listed, strict=True))
            weight = math.log(1 + (count + 0.5) / (have + 0.5)) if have else UNKNOWN * rarest
            total += weight
            for at in range(count):
                share = 1.0 if word in topics[at] else 0.7 if word in listed[at] else 0.0
                results[row, at] += weight * share
        results[row] /= total or 1.0
    return results


def _meaning_evidence(
    clauses: Sequence[str], servers: Sequence[ServerText], embedding: Embedding
) -> NDArray[np.float64]:
    """Return the cosine of each clause with the nearest of each server's texts: (clauses, servers)."""
    texts = [_texts(server) for server in servers]
    flat = list(dict.fromkeys(text for some in texts for text in some))
    rows, there = embedding.embed_whole_texts(TEMPLATE, flat, NullListener(), seconds_in_search())
    places = {text: at for at, text in enumerate(flat) if there[at]}
    queries = embedding.queries(clauses)
    cosines = np.clip(dot_products(queries, rows).reshape(len(clauses), len(rows)), 0.0, 1.0)
    results = np.zeros((len(clauses), len(servers)))
    for at, some in enumerate(texts):
        known = [places[text] for text in some if text in places]
        if known:
            results[:, at] = cosines[:, known].max(axis=1)
    return results


def _texts(server: ServerText) -> list[str]:
    topic = written_out(f"{server.name}. {server.description}")
    return [topic, *(written_out(f"{name.replace('_', ' ')}. {text}") for name, text in server.tools)]


def _cosine(some: Counter[str], others: Counter[str]) -> float:
    product = sum(count * others[word] for word, count in some.items())
    lengths = math.sqrt(sum(count**2 for count in some.values()) * sum(count**2 for count in others.values()))
    return product / lengths if lengths else 0.0
