"""Runs that began at a step of another one: they and all others that did belong together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from infospace.core.errors import NotFound
from infospace.core.json_types import JSON
from infospace.core.position import top_label
from infospace.journal.origin import Product
from infospace.journal.rows import CallRow

if TYPE_CHECKING:
    from infospace.store.protocol import Snapshot


def first_of(snapshot: Snapshot, run: str) -> str:
    """Return the run from which a run was forked, by way of others or not; one that was no fork is its own."""
    result = run
    while True:
        try:
            forked = snapshot.run(result).forked
        except NotFound:
            return result
        if forked is None:
            return result
        result = forked


def parents(snapshot: Snapshot, run: str) -> list[str]:
    """Return the runs that a run was forked from, the nearest first, as far as they are still there."""
    results: list[str] = []
    while True:
        try:
            forked = snapshot.run(results[-1] if results else run).forked
        except NotFound:
            return results[:-1]
        if forked is None:
            return results
        results.append(forked)


def calls_before(snapshot: Snapshot, run: str) -> list[CallRow]:
    """Return the calls of the runs that a run was forked from, also those of steps that it did not take over."""
    return [call for parent in parents(snapshot, run) for call in snapshot.calls(parent)]


@dataclass(frozen=True, slots=True)
class InheritedSteps:
    """What was called, answered and made by the steps that a run took over from the one that it was forked from."""

    calls: tuple[CallRow, ...]
    answers: Mapping[str, JSON]
    products: tuple[Product, ...]


def inherited_steps(snapshot: Snapshot, run: str) -> InheritedSteps:
    """Return what the steps did that a run took over, in whichever run they did it; a run that is no fork took none."""
    calls: list[CallRow] = []
    products: list[Product] = []
    answers: dict[str, JSON] = {}
    labels = {top_label(row.position) for row in snapshot.steps(run) if "forked" in row.extra}
    for parent in parents(snapshot, run):
        calls += [call for call in snapshot.calls(parent) if _is_known(call, labels)]
        answers |= {key: answer for key, answer in snapshot.answers(parent).items() if top_label(key) in labels}
        products += [
            product for product in snapshot.products([parent]) if top_label(product.created_by.step or "") in labels
        ]
        labels &= {top_label(row.position) for row in snapshot.steps(parent) if "forked" in row.extra}
    return InheritedSteps(tuple(calls), answers, tuple(products))


def _is_known(call: CallRow, labels: set[str]) -> bool:
    """Whether a call is of a step that was taken over, or an answer of a model: equal questions share their answer."""
    return top_label(call.position) in labels or (call.kind == "llm" and call.status == "success")
