"""Variables while a plan runs: what a name is bound to, and why it is not."""

from __future__ import annotations

import pytest

from planner.execute.variables import Scope, Unbound, UnboundReason


def test_a_scope_reads_outer_ones_and_binds_only_in_itself() -> None:
    """The nearest counts."""
    outer = Scope()
    inner = Scope(outer)
    outer.bind("x", "Note_1")
    assert inner.find("x") == "Note_1"
    inner.bind("x", "Note_2")
    assert (inner.find("x"), outer.find("x")) == ("Note_2", "Note_1")


def test_of_two_reasons_for_which_a_name_is_not_bound_the_nearest_is_told() -> None:
    """That of an outer scope where the inner one has none."""
    outer = Scope()
    inner = Scope(outer)
    outer.mark_unbound("x", UnboundReason("1", "step 1 failed"))
    with pytest.raises(Unbound, match=r"\$x is not bound: step 1 failed"):
        inner.find("x")
    inner.mark_unbound("x", UnboundReason("2.do[1].1", "step 2.do[1].1 failed"))
    with pytest.raises(Unbound, match=r"\$x is not bound: step 2.do\[1\].1 failed"):
        inner.find("x")
    with pytest.raises(Unbound, match=r"^\$y is not bound$"):
        inner.find("y")


def test_what_a_name_was_bound_to_it_stays_bound_to_though_a_step_did_not_bind_it() -> None:
    """It is bound as before, or not at all, once the step is dropped; then it has no reason either."""
    scope = Scope()
    scope.bind("x", "Note_1")
    scope.mark_unbound("x", UnboundReason("2", "step 2 failed"))
    assert scope.find("x") == "Note_1"
    scope.restore("x", None)
    with pytest.raises(Unbound, match=r"^\$x is not bound$"):
        scope.find("x")
    scope.restore("x", "Note_1")
    assert scope.find("x") == "Note_1"


def test_a_skipped_step_hands_on_the_first_reason_and_says_that_it_was_skipped() -> None:
    """Whatever reads what it should have bound is told of both."""
    first = Unbound("x", UnboundReason("1", "step 1 failed"))
    assert str(first.passed_on("2")) == "step 2 was skipped, because step 1 failed"
    second = Unbound("y", first.passed_on("2"))
    assert second.passed_on("3") == UnboundReason("1", "step 1 failed", "3")
    assert str(Unbound("z", None).passed_on("4")) == "step 4 was skipped, because $z is not bound"
