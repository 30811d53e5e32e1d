"""How often it is said that no tool fits: rightly, where none does, and wrongly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from infospace.tools.scope import NO_FILTERS

if TYPE_CHECKING:
    from finding import Finding

COLUMNS = ("wrongly", "right out", "alike out", "others'", "in vain", "right first", "alike first")


def no_match(findings: Sequence[Finding]) -> None:
    """Print the shares of requests of which it is said that nothing fits, by what there is to be found.

    `right out`: the right tools were taken out. `alike out`: so were those that look like them. `others'`: the
    requests of the other collections. `in vain`: requests that none of the tools does. What bounds the first two are
    the last two columns: the share of requests of which a right tool is the first (where another one is the first
    anyway, taking the right one out changes nothing), and of which, with the right ones out, one like them is.
    """
    print("\nno match is said, share of the requests that count; what bounds it")
    print(f"{'':<16}" + "".join(f"{name:>13}" for name in COLUMNS))
    for finding in findings:
        print(f"{finding.collection.name:<16}" + "".join(_cell(share) for share in _shares(finding, findings)))


def _cell(share: float | None) -> str:
    return f"{'' if share is None else format(share, '.3f'):>13}"


def _shares(finding: Finding, findings: Sequence[Finding]) -> list[float | None]:
    collection, alike = finding.collection, finding.lookalikes()
    places = collection.counting
    whole = [finding.found(collection.requests[at].text, filters=NO_FILTERS) for at in places]
    out = [finding.without(at) for at in places]
    gone = [set().union(*(alike[one] for one in collection.requests[at].right)) for at in places]
    first = [finding.places(finding.found(collection.requests[at].text))[0] for at in places]
    others = [
        finding.found(other.collection.requests[at].text, filters=NO_FILTERS).no_match
        for other in findings
        if other is not finding and other.collection.chosen_on
        for at in other.collection.counting
    ]
    vain = [finding.found(text, filters=NO_FILTERS).no_match for text in collection.vain]
    near = [finding.first(found) in some for found, some in zip(out, gone, strict=True)]
    return [
        float(np.mean([one.no_match for one in whole])),
        float(np.mean([one.no_match for one in out])),
        float(np.mean([finding.without(at, alike).no_match for at in places])),
        float(np.mean(others)) if others else None,
        float(np.mean(vain)) if vain else None,
        float(np.mean([one in collection.requests[at].right for one, at in zip(first, places, strict=True)])),
        float(np.mean(near)),
    ]
