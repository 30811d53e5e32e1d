"""JSON Schema as plans give it: its faults as problems of the plan."""

from __future__ import annotations

from typing import Any

from infospace.schema.validate import first_violation, schema_errors
from planner.language.problems import Problems, join

__all__ = ["check_schema", "first_violation"]


def check_schema(schema: Any, pointer: str, problems: Problems) -> bool:
    """Whether something is a JSON Schema (2020-12) that can be asked; says where it is not."""
    good = True
    for fault in schema_errors(schema):
        problems.error("bad-schema", join(pointer, *fault.place), fault.message, fault.hint)
        good = False
    return good
