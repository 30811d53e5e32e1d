"""Bring files and folders in as notes.

Markdown (front matter, #tags and [[links]] too), text, JSON, HTML and PDF: a note a file. JSON Lines and CSV: a note
a row. Adding again takes only what changed; a file that cannot be read is reported, and the rest goes on.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infospace.core.errors import ModelError, NotFound
from infospace.core.plural import pluralize
from tui.command.common.embedding_model import fetch_missing
from tui.command.common.open_space import open_from
from tui.runtime.gc_control import collected_rarely
from tui.text.output import Output, UsageError
from tui.text.paths import path_of

if TYPE_CHECKING:
    from infospace.core.listener import Listener
    from infospace.files.import_files import Summary
    from infospace.space import Space

EXAMPLES = """examples:
  infospace add ~/notes
  infospace add ~/notes --prune
  infospace add ~/notes --watch
  infospace add report.md table.csv --space work.db
  date | infospace add -"""

CANCELLED = 130


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help="files and folders; `-` is standard input")
    parser.add_argument("--prune", action="store_true", help="delete notes whose file or row is gone")
    parser.add_argument(
        "--git-times", action="store_true", help="in a Git repository, take times from its commits, not from files"
    )
    parser.add_argument("--watch", action="store_true", help="go on, and add what changes, until Ctrl-C")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Import, embed, and say what was done."""
    paths = [path_of(path) for path in args.paths if path != "-"]
    for path in paths:
        if not path.exists():
            raise UsageError(f"there is no file or folder {str(path)!r}")
    if args.watch and "-" in args.paths:
        raise UsageError("standard input cannot be watched", hint="name files and folders")
    with open_from(args, create=True) as space, collected_rarely():
        adding = _Adding(space, out, paths, prune=args.prune, git_times=args.git_times)
        if args.watch:
            return _watch(adding, paths, out)
        return adding.add_once(sys.stdin.buffer.read() if "-" in args.paths else None)


class _Adding:
    """Adds the same paths, once or again and again."""

    def __init__(self, space: Space, out: Output, paths: Sequence[Path], *, prune: bool, git_times: bool) -> None:
        self._space = space
        self._out = out
        self._paths = paths
        self._prune = prune
        self._git_times = git_times

    def add_once(self, text: bytes | None = None, *, quiet: bool = False) -> int:
        """Add, and report unless there is nothing to report and `quiet`; the exit code."""
        from infospace.files.import_files import Summary

        started = time.perf_counter()
        summary = Summary()
        unembedded: ModelError | None = None
        cancelled = False
        with self._out.progress() as listener:
            try:
                self._import(summary, text, listener)
                summary.passages_embedded = self._embed(listener)
            except KeyboardInterrupt:
                cancelled = True
            except ModelError as error:
                unembedded = error
        summary.seconds = time.perf_counter() - started
        if not quiet or summary.run or summary.failed:
            _report(summary, self._out, whole=not cancelled)
        if unembedded is not None:
            with self._space.store.reading() as snapshot:
                waiting = pluralize(snapshot.pending_count(), "note")
            self._out.talk(f"{waiting} kept, but not embedded yet: {unembedded}", style="yellow")
        if cancelled:
            self._out.talk("cancelled: what was added stays, and the next `add` goes on from there")
            return CANCELLED
        return 1 if summary.failed or unembedded is not None else 0

    def _embed(self, listener: Listener) -> int:
        """Embed what is pending, and return how many passages were; the first time, fetch the model for that."""
        try:
            return self._space.embedding.catch_up(listener)
        except ModelError:
            if not fetch_missing(self._space, self._out):
                raise
        return self._space.embedding.catch_up(listener)

    def _import(self, summary: Summary, text: bytes | None, listener: Listener) -> None:
        from infospace.files.import_files import import_paths, import_text

        if self._paths:
            try:
                import_paths(
                    self._space,
                    self._paths,
                    listener,
                    prune=self._prune,
                    git_times=self._git_times,
                    summary=summary,
                )
            except NotFound as error:
                raise UsageError(error.message, hint=error.hint) from error
        if text is not None:
            import_text(self._space, text, summary)


def _watch(adding: _Adding, paths: Sequence[Path], out: Output) -> int:
    from infospace.files.watch import changes, scan

    before = scan(paths)
    if adding.add_once() == CANCELLED:
        return CANCELLED
    out.talk("watching; Ctrl-C ends it", "dim")
    sys.stdout.flush()
    for _ in changes(paths, before):
        if adding.add_once(quiet=True) == CANCELLED:
            break
        sys.stdout.flush()
    return CANCELLED


def _report(summary: Summary, out: Output, *, whole: bool) -> None:
    """Say what was done; how many passages were embedded is known only of what came to its end."""
    if out.json:
        out.document(summary.to_json())
    else:
        counts = ("added", "changed", "restored", "moved", "unchanged", "removed")
        said = ", ".join(f"{getattr(summary, word):,} {word}" for word in counts if getattr(summary, word))
        embedded = f"{pluralize(summary.passages_embedded, 'passage')} embedded, " if whole else ""
        out.text(f"{said or 'nothing to add'} ({embedded}{summary.seconds:.1f} s)")
    if message := format_skipped(summary.skipped):
        out.talk(message, style="dim")
    for failure in summary.failed:
        out.talk(f"not read: {failure['path']}: {failure['reason']}", style="yellow")
    if message := _format_left_out(summary.left_out):
        out.talk(message, style="dim")
    for warning in summary.warnings:
        out.talk(f"warning: {warning['path']}: {warning['reason']}", style="yellow")
    for conflict in summary.conflicts:
        out.talk(_format_conflict(conflict), style="yellow")
    if summary.vanished:
        was = "note's file or row is" if summary.vanished == 1 else "notes' files or rows are"
        out.talk(f"{summary.vanished:,} {was} gone; the note stays: `--prune` deletes such notes", style="dim")


def format_skipped(skipped: Sequence[Mapping[str, Any]]) -> str:
    """Say in a sentence how many files were skipped, why, and for each reason what they are; empty for none."""
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for one in skipped:
        if one["files"]:
            kinds.setdefault(one["reason"], []).append(one)
    parts = []
    for reason, some in kinds.items():
        files = sum(one["files"] for one in some)
        verb, rest = reason.split(" ", 1)
        names = ", ".join(Path(one["path"]).name for one in some[:NAMED])
        more = f" and {len(some) - NAMED:,} more" if len(some) > NAMED else ""
        what = f"1 file {verb}" if files == 1 else f"{files:,} files {_PLURAL[verb]}"
        parts.append(f"{what} {rest} ({names}{more})")
    return f"skipped: {'; '.join(parts)}" if parts else ""


NAMED = 3
"""How many things that were skipped for one reason are named."""


def _format_left_out(left_out: Sequence[Mapping[str, Any]]) -> str:
    if not left_out:
        return ""
    names = ", ".join(Path(one["path"]).name for one in left_out[:NAMED])
    more = f" and {len(left_out) - NAMED:,} more" if len(left_out) > NAMED else ""
    what = "1 file" if len(left_out) == 1 else f"{len(left_out):,} files"
    return (
        f"left out: {what} whose note was removed here ({names}{more}); a change of the file, or "
        f"`infospace add FILE`, brings the note back"
    )


_PLURAL = {"is": "are", "has": "have"}


def _format_conflict(conflict: dict[str, object]) -> str:
    note, path, edited = conflict["id"], conflict["path"], conflict["edited_version"]
    if conflict["version"] is None:
        return f"{note} was edited here and its file {path} is gone: it stays"
    return (
        f"{note} was edited here and in {path}: the file is version {conflict['version']} now, the edit made here "
        f"is version {edited} (`infospace show {note} --version {edited}`)"
    )
