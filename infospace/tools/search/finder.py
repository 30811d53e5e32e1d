"""The search for tools: scope, both legs, one relevance, filters, ranking."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import is_
from typing import TYPE_CHECKING

import numpy as np

from infospace.core.errors import Invalid, ModelError
from infospace.core.tool import Tool
from infospace.search.embedding.everyday_requests import EVERYDAY
from infospace.search.embedding.service import seconds_in_search
from infospace.tools.scope import EVERYTHING
from infospace.tools.search.confidence import (
    BY_BOTH,
    BY_MEANING,
    SURE,
    Model,
    NullScores,
    features,
    log_odds,
    probabilities,
)
from infospace.tools.search.corpus import Corpus, CurrentTools, IndexedTool
from infospace.tools.search.documents import TEMPLATE, embedded, fields_of
from infospace.tools.search.lexical.bm25f import TermCounts, Vocabulary
from infospace.tools.search.past_calls import PastCalls, Remembered
from infospace.tools.search.ranking import Scores, rank_tools
from infospace.tools.search.request import ParsedRequest
from infospace.tools.search.results import CallExample, Mode, ToolExplanation, ToolQuery, ToolResults
from infospace.tools.search.rules.forward_chaining import RulesEndless
from infospace.tools.search.scoring import Evidence, by_both, by_meaning, keyword_evidence, strength
from infospace.tools.search.similar import SimilarTool, most_similar
from infospace.tools.search.types import ToolTypes
from infospace.tools.search.vectors import dot_products, tool_vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from infospace.core.listener import Listener
    from infospace.search.embedding.service import Embedding
    from infospace.tools.search.rules.source import RuleSource

CORPORA = 8
"""Lists of tools that are kept ready: a caller's scope makes one of its own."""

EMBEDDED_AT_ONCE = 32
"""Requests that were remembered and never embedded, which one search embeds: about 0.1 s."""

EXACT = 2.0
"""Evidence for a tool whose name the request is, or which says just that of itself, however many say the same."""

MISSPELT = 0.95
"""Evidence for a tool whose name the request is plainly meant to be, and is not; its confidence is no less."""

LABELLED = 0.5
"""Evidence for a tool whose server, category or tag the request is: a tool of that name goes before it."""


class Finder:
    """Finds tools of one space. What was read, counted and embedded of a tool once is not again until it changes."""

    def __init__(self, embedding: Embedding, types: ToolTypes | None = None, rules: RuleSource | None = None) -> None:
        self.types = types or ToolTypes()
        """What the tools take and give, read once each."""
        self.rules = rules
        """Where the rules of the space are, None where there can be none."""
        self._embedding = embedding
        self._vocabulary = Vocabulary()
        self._known: dict[tuple[str, str], IndexedTool] = {}
        self._corpora: list[Corpus] = []
        self._last: CurrentTools | None = None
        self._everyday: tuple[str, NDArray[np.float32]] | None = None
        self._memory: tuple[str, PastCalls] | None = None
        self._lock = threading.Lock()

    def find(
        self,
        tools: Iterable[Tool],
        query: ToolQuery,
        listener: Listener | None = None,
        remembered: Sequence[CallExample] = (),
    ) -> ToolResults:
        """Find the tools that do what a request asks for, best first.

        Tools out of scope count in nothing. `remembered` are requests that tools were called for with success; each
        makes its tool more likely for requests like it. Embeds what is not embedded yet, for so long as a search
        may. Raises Invalid for a blank request.
        """
        if not query.request.strip():
            raise Invalid("a request for tools is blank", hint="what the tool should do, in plain words")
        scope = query.scope
        allowed = list(tools) if scope == EVERYTHING else [tool for tool in tools if scope.allows(tool)]
        if not allowed:
            return ToolResults([], 0, 0)
        with self._lock:
            if self._last is None or not self._last.are(allowed):
                self._last = CurrentTools(allowed, self._corpus(allowed))
            present = self._last
            legs, evidence = self._legs(present.corpus, query.request, query.mode, listener, remembered)
        called = {example.tool for example in remembered} if query.filters.has_examples is not None else ()
        rules = None if self.rules is None else self.rules.rules()
        problem = None if self.rules is None else self.rules.problem
        try:
            results = rank_tools(present, legs, query, called, self.types, rules)
        except RulesEndless as error:
            results = rank_tools(present, legs, query, called, self.types)
            problem = f"the rules for tools are not used: {error}"

        def explain(tool: Tool) -> ToolExplanation | None:
            at = next((place for place, one in enumerate(present.tools) if one is tool), None)
            return None if at is None else evidence.of(present.corpus, at)

        results = replace(results, explain=explain)
        if problem is None:
            return results
        return replace(results, degraded="; ".join(filter(None, (results.degraded, problem))))

    def similar(
        self, tools: Sequence[Tool], tool: Tool, limit: int, listener: Listener | None = None
    ) -> tuple[list[SimilarTool], str | None]:
        """Find the tools of a list that are most like one of them, best first; never itself.

        Embeds what is not embedded yet. The second part says in a sentence what it went without, None for nothing.
        """
        with self._lock:
            corpus = self._corpus(tools)
            try:
                self._embedding.follow()
                waiting = corpus.without_vector(self._embedding.key)
                key = self._embedding.key
                left = self._embed(waiting, key, listener, seconds_in_search()) if waiting else 0
                of = f"{left:,} of {len(corpus.tools):,} tools wait to be embedded, and are compared by words alone"
                text = of if left else None
            except ModelError as error:
                text = f"tools are compared by words alone: {error}"
        return most_similar(corpus.tools, tools, tool, limit), text

    def embed(self, tools: Sequence[Tool], listener: Listener) -> str | None:
        """Embed what is not embedded yet of some tools, however long that takes, so that no search waits for it.

        Returns in a sentence why it could not, None where it could.
        """
        try:
            with self._lock:
                self._embedding.follow()
                waiting = self._corpus(tools).without_vector(self._embedding.key)
            texts = list(dict.fromkeys(text for indexed in waiting for text in indexed.texts))
            # It lasts, and whoever searches meanwhile is not held up.
            self._embedding.embed_whole_texts(TEMPLATE, texts, listener, None)
            if tools:
                # Every search compares the catalogue with these, and remembered once they cost none anything.
                self._embedding.queries(EVERYDAY)
        except ModelError as error:
            return f"tools are found by words alone: {error}"
        return None

    def _corpus(self, tools: Sequence[Tool]) -> Corpus:
        """The corpus of some tools, made anew where the text of one of them has changed."""
        known = [self._read(tool) for tool in tools]
        corpus = next((one for one in self._corpora if _same(one.tools, known)), None)
        if corpus is None:
            corpus = Corpus(known, self._vocabulary)
            self._corpora = [*self._corpora[-CORPORA + 1 :], corpus]
        if len(self._known) > 2 * sum(len(one.tools) for one in self._corpora):
            self._known = {
                (indexed_tool.tool.kind, indexed_tool.tool.full_name): indexed_tool
                for corpus in self._corpora
                for indexed_tool in corpus.tools
            }
        return corpus

    def _read(self, tool: Tool) -> IndexedTool:
        known = self._known.get((tool.kind, tool.full_name))
        if known is not None and known.tool is tool:
            return known
        fields = fields_of(tool)
        if known is not None and known.fields == fields:
            known.tool = tool
            return known
        fresh = IndexedTool(tool, fields, TermCounts.of(fields, self._vocabulary), embedded(fields))
        self._known[tool.kind, tool.full_name] = fresh
        return fresh

    def _legs(
        self, corpus: Corpus, request: str, mode: Mode, listener: Listener | None, remembered: Sequence[CallExample]
    ) -> tuple[Scores, Evidence]:
        asked = ParsedRequest.of(request, corpus)
        cosines, past, degraded = None, None, None
        if mode != "keyword":
            try:
                cosines, past, degraded = self._meaning(corpus, asked, listener, remembered)
            except ModelError as error:
                degraded = f"tools are found by words alone: {error}"
        if mode == "semantic" and cosines is not None and not degraded:
            words, masses, results = None, None, by_meaning(cosines)
        else:
            words, masses = asked.bm25(corpus), asked.masses(corpus)
            alone = keyword_evidence(words, masses)
            joined = None if cosines is None else by_both(cosines, words) if mode == "hybrid" else by_meaning(cosines)
            results = alone if joined is None else np.where(np.isnan(joined), alone, joined)
        names = np.zeros(len(corpus.tools)) if words is None or words.any() else asked.named(corpus)
        whole = request.strip().casefold()
        called, labelled = corpus.tools_by_name.get(whole, []), corpus.labelled.get(whole, [])
        suggestion = [] if called or labelled else corpus.misspelt_name(request.strip())
        quoted = asked.quoted(corpus)
        names[labelled] = np.maximum(names[labelled], LABELLED)
        names[suggestion] = MISSPELT
        names[called] = EXACT
        guessed = asked.guessed(corpus) | (names > 0)
        evidence = results + names + EXACT * quoted + (0 if past is None else past.evidence)
        exact = np.asarray(quoted.any(axis=0), np.bool_)
        exact[[*called, *labelled]] = True
        model = BY_MEANING if mode == "semantic" else BY_BOTH
        null = None if cosines is None else self._null_scores(corpus, model)
        odds = log_odds(features(corpus, asked.words, results, cosines, null), model)
        confidences = np.maximum(probabilities(odds, None if past is None else past.nearest), names.clip(0, SURE))
        confidences[exact] = SURE
        extra = None if past is None else past.evidence
        scores = Scores(strength(evidence), words, cosines, guessed, extra, degraded, confidences)
        return scores, Evidence(asked, mode, cosines, masses, quoted, names, extra, EXACT)

    def _null_scores(self, corpus: Corpus, model: Model) -> NullScores:
        """What the corpus answers to everyday requests; made once for it, their vectors once for the model."""
        key = self._embedding.key
        if self._everyday is None or self._everyday[0] != key:
            self._everyday = key, self._embedding.queries(EVERYDAY)
        return corpus.null_scores(key, self._everyday[1], by_meaning=model is BY_MEANING)

    def _meaning(
        self, corpus: Corpus, request: ParsedRequest, listener: Listener | None, remembered: Sequence[CallExample]
    ) -> tuple[NDArray[np.float64], Remembered | None, str | None]:
        """Cosines by parts, NaN for a tool without a vector; what is remembered; what is to be said."""
        self._embedding.follow()
        vectors = self._embedding.queries(request.parts)
        matrix, degraded = self._vectors(corpus, vectors.shape[1], listener)
        cosines = dot_products(vectors, matrix)
        if degraded is not None:
            cosines[:, ~matrix.any(axis=1)] = np.nan
        if not remembered:
            return cosines, None, degraded
        return cosines, self._remembering(remembered).evidence_for(corpus, request, vectors), degraded

    def _remembering(self, remembered: Sequence[CallExample]) -> PastCalls:
        """What worked before, made ready again only when it is something else, or the model is another one.

        Of requests that were never embedded a search embeds a few, the latest; the others have to wait for the next.
        """
        key, last = self._embedding.key, self._memory
        if last is None or last[0] != key or last[1].remembered is not remembered or last[1].waits:
            requests = [example.request for example in remembered if example.request]
            most = EMBEDDED_AT_ONCE if self._embedding.remembers else len(requests)
            queries, there = self._embedding.some_queries(requests, most)
            self._memory = last = key, PastCalls(remembered, queries, self._vocabulary, waits=not there.all())
        return last[1]

    def _vectors(
        self, corpus: Corpus, dimension: int, listener: Listener | None
    ) -> tuple[NDArray[np.float32], str | None]:
        """The vectors of a corpus, and what to say where some are not there yet."""
        key = self._embedding.key
        waiting = corpus.without_vector(key)
        left = self._embed(waiting, key, listener, seconds_in_search()) if waiting else 0
        text = f"{left:,} of {len(corpus.tools):,} tools wait to be embedded, and are found by words alone"
        return corpus.matrix(key, dimension), text if left else None

    def _embed(self, tools: Sequence[IndexedTool], key: str, listener: Listener | None, seconds: float | None) -> int:
        """Give tools their vectors, for so many seconds, None for no bound; return how many have to wait."""
        from infospace.core.listener import NullListener

        texts = list(dict.fromkeys(text for indexed in tools for text in indexed.texts))
        rows, there = self._embedding.embed_whole_texts(TEMPLATE, texts, listener or NullListener(), seconds)
        places = {text: at for at, text in enumerate(texts) if there[at]}
        ready = [indexed for indexed in tools if all(text in places for text in indexed.texts)]
        if ready:
            names, descriptions = (rows[[places[indexed.texts[which]] for indexed in ready]] for which in (0, 1))
            empty = np.array([not indexed.texts[1] for indexed in ready])
            descriptions[empty] = 0
            for indexed, vector in zip(ready, tool_vectors(names, descriptions), strict=True):
                indexed.key, indexed.vector = key, vector
        return len(tools) - len(ready)


def _same(some: Sequence[IndexedTool], others: Sequence[IndexedTool]) -> bool:
    return len(some) == len(others) and all(map(is_, some, others))
