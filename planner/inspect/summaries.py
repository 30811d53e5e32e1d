"""What is told of a step beside its name: what it does outside of itself, and how large what it gave is."""

from __future__ import annotations

import re

from infospace.contract.catalogue import Catalogue
from infospace.contract.docs import effect_label
from infospace.core.ids import is_id, kind_of
from infospace.journal.rows import StepRow
from planner.language.plan import Ask, Map, Step, Stop, Wait
from planner.order.dependencies import called_tool

_COUNT = re.compile(r"([\d,]+) ")
_CUT = re.compile(r"\[cut: ([\d,]+) characters in all\](?: \([^()]*\))?$")


def format_effect(step: Step, catalogue: Catalogue) -> str:
    """Return what a step does outside of itself, in a word or a few; "" where it is not known, or nothing."""
    if isinstance(step.form, (Ask, Wait, Stop)):
        return {Ask: "asks", Wait: "waits", Stop: "ends"}[type(step.form)]
    tool = called_tool(step, catalogue)
    if tool is not None:
        return "reads outside" if tool.read_only else "may destroy" if tool.destructive else "changes outside"
    entry = catalogue.find(step.form.operation if isinstance(step.form, Map) else step.type)
    if entry is None:
        return ""
    if entry.asks:
        return "asks the model"
    text = effect_label(entry)
    if text in ("pure", "reads") and step.name is not None:
        return "names"
    return "" if text == "pure" else text


def format_size(row: StepRow) -> str:
    """Return the kind of what a step gave, and its size as far as the journal tells: `Collection (12)`."""
    if row.resource is None or not is_id(row.resource):
        return ""
    kind = str(kind_of(row.resource))
    if kind == "Collection":
        match = _COUNT.match(row.value)
        count = row.extra.get("item_count")
        count_text = f"{count:,}" if isinstance(count, int) else match[1] if match else ""
        return f"{kind} ({count_text})" if count_text else kind
    cut = _CUT.search(row.value)
    return f"{kind} ({cut[1] if cut else f'{len(row.value):,}'})" if kind == "Note" else kind
