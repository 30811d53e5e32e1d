"""Write all kept notes out as files, or edits back to the files that notes came from.

Markdown with front matter, JSON for what is no text; folders as they were imported. `infospace add` reads the same
notes from them. Files that an export did not write stay as they are.
"""

from __future__ import annotations

import argparse

from tui.command.common.open_space import open_from
from tui.text.output import Output, UsageError
from tui.text.paths import lies_there, path_of

EXAMPLES = """examples:
  infospace export ~/backup
  infospace export --in-place
  infospace export --in-place ~/notes/drafts"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("path", nargs="?", metavar="PATH", help="the folder; with --in-place, only files below it")
    parser.add_argument("--in-place", action="store_true", help="write edits back to the files they belong to")
    parser.add_argument("--force", action="store_true", help="overwrite files that an export did not write")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Export, and say what was written."""
    from infospace.files.export import export, to_json, write_back

    path = None if args.path is None else path_of(args.path)
    if path is None and not args.in_place:
        raise UsageError("export needs a folder to write to", hint="infospace export FOLDER, or --in-place")
    if args.in_place and args.force:
        raise UsageError("--force does not go with --in-place", hint="`infospace add` first: both are kept as versions")
    if path is not None and lies_there(path) and not path.is_dir() and not args.in_place:
        raise UsageError(f"{str(path)!r} is a file, and notes are written to a folder")
    with open_from(args, create=False) as space:
        if path is None or args.in_place:
            report = write_back(space.store, path)
        else:
            report = export(space.store, path, force=args.force)
    if out.json:
        out.document(to_json(report))
    else:
        counts = [f"{getattr(report, word):,} {word}" for word in ("written", "unchanged", "removed")]
        text = ", ".join(count for count in counts if not count.startswith("0 "))
        out.text(text or "nothing to write")
    for failure in report.failed:
        out.talk(f"not written: {failure['path']}: {failure['reason']}", style="yellow")
    return 1 if report.failed else 0
