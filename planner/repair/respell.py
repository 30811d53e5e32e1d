"""Plans in the words of other systems, read as what they plainly mean: each is one problem, with one patch.

What follows in the check then sees the plan as it was meant: an `output` that should be `out` is told once, and not
again by every step that reads it. Places are those of the document as it was written.
"""

from __future__ import annotations

from infospace.contract.catalogue import Catalogue
from infospace.core.json_types import JSON
from planner.repair.respell_plan import spell_plan
from planner.repair.respell_steps import StepSpeller
from planner.repair.respelt import Respelt


def respell(document: JSON, catalogue: Catalogue, *, steps_only: bool = False) -> Respelt:
    """Read a document as it is meant. With `steps_only` it is a list of steps, as a session is given them."""
    respelt = Respelt(catalogue, [document])
    block = "" if steps_only or isinstance(document, list) else spell_plan(respelt)
    if block is not None:
        StepSpeller(respelt).block(block)
    return respelt
