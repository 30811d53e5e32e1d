"""Tests on a machine that has much else to do."""

from __future__ import annotations

import os
from typing import Any

import pytest
from fewer import ALL_EXAMPLES, take_fewer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


def test_no_property_is_held_to_a_time() -> None:
    """Neither by a deadline for an example, nor by how long it takes to make some."""
    assert settings().deadline is None
    assert HealthCheck.too_slow in settings().suppress_health_check
    assert settings(max_examples=5).deadline is None


def test_examples_are_new_ones_only_where_that_is_what_is_wanted() -> None:
    """Else a test that passed may fail for what nobody changed."""
    assert settings(max_examples=5).derandomize is not bool(os.environ.get("INFOSPACE_PROVE"))


@pytest.mark.parametrize(("asked", "taken"), [(20, 20), (60, 25), (100, 25), (400, 100)])
def test_a_property_is_tried_with_its_first_examples(asked: int, taken: int) -> None:
    """They are what it would be tried with first, and taking fewer a second time leaves as many."""

    def examples(times: int) -> list[int]:
        seen = []

        @settings(max_examples=asked, derandomize=True, database=None)
        @given(number=st.integers())
        def property_(number: int) -> None:
            seen.append(number)

        for _ in range(times):
            take_fewer(property_)
        property_()
        return seen

    assert examples(0)[:taken] == examples(1) == examples(2)
    assert (len(examples(0)), len(examples(1))) == (asked, taken)


@settings(max_examples=400)
@given(number=st.integers())
def test_a_number_is_what_is_read_from_its_text(number: int) -> None:
    assert int(str(number)) == number


def test_the_property_above_takes_all_its_examples_in_a_proof_alone() -> None:
    property_: Any = test_a_number_is_what_is_read_from_its_text
    taken: settings = property_._hypothesis_internal_use_settings
    assert taken.max_examples == (400 if ALL_EXAMPLES else 100)
