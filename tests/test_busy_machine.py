"""Tests on a machine that has much else to do."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings


def test_no_property_is_held_to_a_time() -> None:
    """Neither by a deadline for an example, nor by how long it takes to make some."""
    assert settings().deadline is None
    assert HealthCheck.too_slow in settings().suppress_health_check
    assert settings(max_examples=5).deadline is None


def test_examples_are_new_ones_only_where_that_is_what_is_wanted() -> None:
    """Else a test that passed may fail for what nobody changed."""
    assert settings(max_examples=5).derandomize is not bool(os.environ.get("INFOSPACE_PROVE"))
