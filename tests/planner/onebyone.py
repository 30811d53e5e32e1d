"""Running a plan with nothing side by side, to hold what runs side by side against it."""

from __future__ import annotations

from planner.language.plan import Block
from planner.order.dependencies import DependencyAnalysis, Group


class OneByOne(DependencyAnalysis):
    """An order in which nothing runs side by side."""

    def groups(self, steps: Block) -> tuple[Group, ...]:
        """Return the same groups without what may overlap."""
        return tuple(Group(group.units) for group in super().groups(steps))

    def items_independent(self, steps: Block, handler: Block = ()) -> bool:
        """No items overlap."""
        del steps, handler
        return False
