"""What may stand at a place of a plan that is being written: types, arguments, variables, fields, tools.

The text need not be JSON yet: what stands before the place is enough.
"""

from planner.editor.complete import complete
from planner.editor.offers import PLAN, Completion, Offer

__all__ = ["PLAN", "Completion", "Offer", "complete"]
