"""Plans at each boundary of what the check knows, in pairs that differ in one thing: the first is right.

The space in which they are checked has a Note named `taken` with the metadata `{"mood": "calm"}`, the saved plans
`saved`, `one` and `naming`, and the server `sky`.
"""

from __future__ import annotations

from boundaries.calls import CALLS
from boundaries.conditions import CONDITIONS
from boundaries.flow import FLOW
from boundaries.names import NAMES
from boundaries.parts import Pair
from boundaries.paths import PATHS
from boundaries.resources import RESOURCES
from boundaries.respelt import RESPELT
from boundaries.warned import WARNED

__all__ = ["PAIRS", "RESPELT", "WARNED"]

PAIRS: dict[str, Pair] = {
    f"{room}: {name}": pair
    for room, pairs in {
        "conditions": CONDITIONS,
        "paths": PATHS,
        "resources": RESOURCES,
        "names": NAMES,
        "flow": FLOW,
        "calls": CALLS,
    }.items()
    for name, pair in pairs.items()
}
