"""Long text on a terminal goes through a pager; to a pipe or a file it goes as it is."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys

from tui.text.output import Output, escape_controls

LOOKED_AT = 20_000
"""Characters of a text that a terminal shows where there is no pager; a longer text goes through the pager."""


def show_markdown(text: str, out: Output) -> None:
    """Show Markdown: rendered on a terminal, plain elsewhere."""
    if not sys.stdout.isatty():
        out.text(text.rstrip())
        return
    from rich.markdown import Markdown

    with out.result.capture() as captured:
        out.result.print(Markdown(text))
    rendered = captured.get()
    if rendered.count("\n") < out.result.height or not _paged(rendered):
        sys.stdout.write(rendered)


def show_text(text: str, out: Output) -> None:
    """Show plain text; on a terminal what is longer than that goes through the pager."""
    height = out.result.height
    if not sys.stdout.isatty() or (text.count("\n", 0, LOOKED_AT) < height and len(text) < LOOKED_AT):
        out.text(text)
    elif not _paged(escape_controls(text) + "\n"):
        out.text(text[:LOOKED_AT])
        if len(text) > LOOKED_AT:
            out.talk(f"the first {LOOKED_AT:,} of {len(text):,} characters; a pipe or --json gives all", "dim")


def _paged(text: str) -> bool:
    """Whether a pager showed the text; an empty `PAGER` asks for none."""
    command = shlex.split(os.environ.get("PAGER", "less"))
    if not command:
        return False
    environment = {"LESS": "FRX", **os.environ}
    try:
        subprocess.run(command, input=text.encode(), env=environment, check=False)  # noqa: S603 - the user's own pager
    except OSError:
        return False
    return True
