"""Bring files and folders in as notes.

Markdown (front matter becomes metadata) and text. Adding again takes only what changed; a file that
cannot be read is reported, and the rest goes on.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from infospace.errors import ModelError, NotFound
from tui.command.output import Output, UsageError
from tui.command.spaces import open_from

EXAMPLES = """examples:
  infospace add ~/notes
  infospace add report.md ideas.txt --space work.db
  date | infospace add -"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help="files and folders; `-` is standard input")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Import, embed, and say what was done."""
    from infospace.memory.importing import Summary, import_paths, import_text

    started = time.perf_counter()
    paths = [Path(path).expanduser() for path in args.paths if path != "-"]
    for path in paths:
        if not path.exists():
            raise UsageError(f"there is no file or folder {str(path)!r}")
    with open_from(args, create=True) as space, out.progress() as listener:
        try:
            summary = import_paths(space, paths, listener) if paths else Summary()
        except NotFound as error:
            raise UsageError(error.says, hint=error.hint) from error
        if "-" in args.paths:
            import_text(space, sys.stdin.buffer.read(), summary)
        unembedded: ModelError | None = None
        try:
            summary.passages_embedded = space.embedding.catch_up(listener)
        except ModelError as error:
            unembedded = error
    summary.seconds = time.perf_counter() - started
    if out.json:
        out.document(summary.to_json())
    else:
        counts = ("added", "changed", "moved", "unchanged", "removed")
        said = ", ".join(f"{getattr(summary, word):,} {word}" for word in counts if getattr(summary, word))
        out.text(
            f"{said or 'nothing to add'} ({summary.passages_embedded:,} passages embedded, {summary.seconds:.1f} s)"
        )
    for failure in summary.failed:
        out.talk(f"not read: {failure['path']}: {failure['reason']}", style="yellow")
    if unembedded is not None:
        kept = summary.added + summary.changed
        out.talk(f"{kept:,} notes are kept, but wait to be embedded: {unembedded}", style="yellow")
    return 1 if summary.failed or unembedded is not None else 0
