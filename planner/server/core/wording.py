"""Sentences for a planner that has the small door alone: what a command line or another tool does is said by its own.

Errors and hints are written once for all who read them; here the names of commands and of the tools of `full` become
those of the door, and what only a person at a command line can do is said to be that.
"""

from __future__ import annotations

import re
from typing import Final

_RULES: Final = [
    (re.compile(pattern), text)
    for pattern, text in (
        (r"`infospace resume`, or answer_run, goes on with it", '`follow` with "do": "resume" goes on with it'),
        (r"`infospace answer (run_\d+) (\S+) …` goes on, and so does answer_run\([^)]*\)", r"answer it with `follow`"),
        (r"`infospace resume (run_\d+)` goes on, and so does answer_run\([^)]*\)", '`follow` with "do": "resume"'),
        (r"`infospace resume[^`]*`", '`follow` with "do": "resume"'),
        (r"`infospace runs[^`]*`", "`follow` without a run"),
        (r"`infospace answer[^`]*`", "`follow` with `step` and `value`"),
        (r"`infospace show (run_\d+)[^`]*`", r"`read` of \1"),
        (r"`infospace run - --session[^`]*`", "`step`"),
        (r"`infospace run[^`]*`", "`run`"),
        (r"`infospace tools sync[^`]*`", "whoever runs this server has to sync its tools, which"),
        (r"`infospace [^`]*`", "whoever runs this server"),
        (r"\bget_run\b|\banswer_run\b", "follow"),
        (r"\bcancel_run one\b", 'cancel one with `follow` and "do": "cancel"'),
        (r"\bcancel_run\b", '`follow` with "do": "cancel"'),
        (r"\brun_plan\b|\bcheck_plan\b", "run"),
        (r"\brun_steps\b", "step"),
        (r"\bdescribe_primitives\b|\bdescribe_tool\b|\bsearch_tools\b|\bdiscover_notes\b", "find"),
        (r"`--replace`", '"replace": true'),
    )
]


def plain(text: str) -> str:
    """Return a sentence without commands, and with the names of the small door."""
    if "infospace" not in text and "_" not in text and "--" not in text:
        return text
    for pattern, written in _RULES:
        text = pattern.sub(written, text)
    return text
