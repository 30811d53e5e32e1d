"""Patterns as conditions use them: those of `infospace.patterns`."""

from __future__ import annotations

from infospace.patterns import compile_pattern

__all__ = ["compile_pattern"]
