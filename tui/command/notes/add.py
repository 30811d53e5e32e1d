"""Bring files and folders in as notes.

Markdown (front matter, #tags and [[links]] too), text, JSON, HTML and PDF: a note a file. JSON Lines and CSV: a note
a row. Adding again takes only what changed; a file that cannot be read is reported, and the rest goes on. Files that
are named themselves are embedded first, then those that were changed last: they are found while the rest waits.

With --detach a process of its own adds, and goes on when this command has ended, or the terminal is closed. Of a space
there is one at a time. --status says how far it is, --stop ends it. It is started again when it is killed; after the
machine was switched off, --detach without a PATH goes on.
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
from tui.command.common.open_space import address_of, open_from
from tui.runtime.gc_control import collected_rarely
from tui.text.output import Output, UsageError
from tui.text.paths import lies_there, path_of

if TYPE_CHECKING:
    from infospace.core.listener import Listener
    from infospace.files.import_files import Summary
    from infospace.space import Space

EXAMPLES = """examples:
  infospace add ~/notes
  infospace add ~/notes --prune
  infospace add ~/notes --watch
  infospace add report.md table.csv --space work.db
  infospace add ~/notes --detach
  infospace add --status
  infospace add --stop
  date | infospace add -"""

CANCELLED = 130


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders; `-` is standard input")
    parser.add_argument("--prune", action="store_true", help="delete notes whose file or row is gone")
    parser.add_argument(
        "--git-times", action="store_true", help="in a Git repository, take times from its commits, not from files"
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--watch", action="store_true", help="go on, and add what changes, until Ctrl-C")
    how.add_argument(
        "--detach", action="store_true", help="add in the background; without PATH, go on with what was broken off"
    )
    how.add_argument("--status", action="store_true", help="say how far adding in the background is")
    how.add_argument("--stop", action="store_true", help="end adding in the background; what was added stays")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Import, embed, and say what was done."""
    paths = [path_of(path) for path in args.paths if path != "-"]
    for path in paths:
        if not lies_there(path):
            raise UsageError(f"there is no file or folder {str(path)!r:.200}")
    if "-" in args.paths and (args.watch or args.detach):
        raise UsageError(
            f"standard input cannot be {'watched' if args.watch else 'added in the background'}",
            hint="name files and folders",
        )
    if args.detach or args.status or args.stop:
        return _in_background(args, paths, out)
    if not args.paths:
        raise UsageError("add needs a PATH: files and folders, or `-` for standard input")
    with open_from(args, create=True) as space, collected_rarely():
        adding = _Adding(space, out, paths, prune=args.prune, git_times=args.git_times)
        if args.watch:
            return _watch(adding, paths, out)
        return adding.add_once(sys.stdin.buffer.read() if "-" in args.paths else None)


def _in_background(args: argparse.Namespace, paths: Sequence[Path], out: Output) -> int:
    """Begin adding in the background, say how far it is, or end it."""
    from infospace.core.errors import Invalid
    from tui.runtime.detached_import import DetachedImport

    if args.paths and not args.detach:
        raise UsageError("--status and --stop take no PATH: of a space one import at a time is in the background")
    try:
        job = DetachedImport(address_of(args))
        if args.detach:
            with open_from(args, create=True) as space:
                fetch_missing(space, out)
            record = job.start(paths, prune=args.prune, git_times=args.git_times)
        else:
            result = job.stop() if args.stop else job.read()
            if result is None:
                out.document(None) if out.json else out.text("nothing was added in the background")
                return 0
            record = result
    except Invalid as error:
        raise UsageError(error.message, hint=error.hint) from error
    if out.json:
        out.document(record.to_json())
    else:
        out.text(f"{record}")
    if args.detach:
        out.talk(f"it goes on in the background as process {record.pid}: --status says how far, --stop ends it", "dim")
    elif record.broken_off:
        out.talk("`infospace add --detach` goes on with it", "yellow")
    return 1 if record.state == "failed" or record.broken_off else 0


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
        from infospace.files.tracked_files import first_to_embed

        with self._space.store.reading() as snapshot:
            first = first_to_embed(snapshot, self._paths)
        try:
            return self._space.embedding.catch_up(listener, first=first)
        except ModelError:
            if not fetch_missing(self._space, self._out):
                raise
        return self._space.embedding.catch_up(listener, first=first)

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
        text = ", ".join(f"{getattr(summary, word):,} {word}" for word in counts if getattr(summary, word))
        embedded = f"{pluralize(summary.passages_embedded, 'passage')} embedded, " if whole else ""
        out.text(f"{text or 'nothing to add'} ({embedded}{summary.seconds:.1f} s)")
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
