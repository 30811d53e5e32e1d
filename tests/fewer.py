"""Properties are tried with the first of their examples in each run of the tests, and with all of them in a proof."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from hypothesis import settings

ALL_EXAMPLES = not {"INFOSPACE_PROVE", "MUTANT_UNDER_TEST"}.isdisjoint(os.environ)
"""Whether a property takes as many examples as it asks for: `make prove` and `make mutate` want them all."""
LEAST = 25
"""Examples that a property has, where it asks for as many; beyond 100 it has a quarter of what it asks for."""


def take_fewer(test: Callable[..., object]) -> None:
    """Have a property tried with its first examples. Where a test is parametrised it may come here again."""
    function: Any = getattr(test, "__func__", test)
    if not hasattr(function, "asked_for"):
        function.asked_for = function._hypothesis_internal_use_settings
    asked: settings = function.asked_for
    count = min(asked.max_examples, max(LEAST, asked.max_examples // 4))
    function._hypothesis_internal_use_settings = settings(asked, max_examples=count)
