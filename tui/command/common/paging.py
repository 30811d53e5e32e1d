"""Long text on a terminal goes through a pager; to a pipe or a file it goes as it is."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys

from tui.text.output import Output


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
