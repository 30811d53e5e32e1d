"""What the parts of a check share while a plan is gone through in document order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from infospace.contract.catalogue import Catalogue
from planner.check.conditions import ConditionChecker
from planner.check.environment import Environment
from planner.check.mutations import MutationTracker
from planner.check.primitive_calls import CallChecker
from planner.check.references.values import ValueChecker
from planner.check.space_facts import SpaceFacts
from planner.check.tool_calls import ToolChecker
from planner.language.plan import Budget
from planner.language.problems import Problems


class CheckState:
    """What is known where the check stands.

    One check has one state. Its parts read and replace `env` in document order, so none of them keeps an environment
    of its own beyond a call; who puts another one there, to look into a branch, puts the outer one back.
    """

    def __init__(
        self, catalogue: Catalogue, facts: SpaceFacts, problems: Problems, changes: MutationTracker | None = None
    ) -> None:
        """`changes` are those made before, where this is the check of a saved plan that is called."""
        self.catalogue = catalogue
        self.problems = problems
        self.values = ValueChecker(facts, problems, changes)
        self.tools = ToolChecker(catalogue, self.values, problems)
        self.calls = CallChecker(self.values, self.tools, problems)
        self.conditions = ConditionChecker(self.values, self.tools, problems)
        self.env = Environment()
        """What is known after the last step that was checked."""
        self.bound: list[tuple[str, str]] = []
        """Pointers and names of the bindings that are made for something to read them."""
        self.max_depth = Budget().depth
        """How deep blocks may be nested."""
        self.handled = False
        """Whether an `on_fail` of the step, or around it, handles that it fails."""
        self.around = False
        """Whether an `on_fail` around it does."""
        self.given_by_round: list[tuple[str, Callable[[bool], None]]] = []
        """Names that a round of a loop gives, which the next one finds taken unless this one frees them; what tells it.

        It takes whether that is certain.
        """
        self.moved: set[object] = set()
        """Which resources were given a name that only the run knows, and so may have lost the one that they had."""
        self.stopped: list[Environment] = []
        """What is known at the places where the plan may be ended on purpose, and not as failed."""

    @contextmanager
    def in_environment(self, env: Environment) -> Iterator[None]:
        """Check what follows in another environment, and come back to this one."""
        outer, self.env = self.env, env
        yield
        self.env = outer
