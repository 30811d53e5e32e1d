"""Prompts for a language model, and what its answers have to fit."""

from __future__ import annotations

from infospace.llm.prompts import answers_to, judge_prompt, task

__all__ = [
    "answers_to",
    "judge_prompt",
    "task",
]
