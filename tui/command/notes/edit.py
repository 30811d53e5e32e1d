"""Edit a note: its text with its metadata as front matter in your editor, or from the command line.

The earlier version stays. Nothing is changed when nothing is different, when the editor fails, or when the note was
changed meanwhile.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infospace.core.errors import InfospaceError, NotFound
from tui.command.common.open_space import find, open_from
from tui.screens.notes.external_editor import EditorFile
from tui.text.output import Output, UsageError
from tui.text.paths import lies_there

if TYPE_CHECKING:
    from infospace.core.json_types import JSON
    from infospace.core.resources import Note

EXAMPLES = """examples:
  infospace edit retrieval/bm25.md
  infospace edit Note_12 --metadata status=done --metadata 'tags=["a", "b"]'
  infospace edit projects/garden.md --task 14 --status x
  date | infospace edit 'last backup' --value -"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("reference", metavar="ID|NAME|PATH", help="the note")
    parser.add_argument(
        "--value", metavar="FILE", help="the new content, and front matter if it has one; `-` is standard input"
    )
    parser.add_argument(
        "--metadata", metavar="K=V", action="append", default=[], help="set a field: JSON where V is that, else text"
    )
    parser.add_argument(
        "--task", metavar="LINE", type=int, help="the task in this line of the file (`line` of `items` in a query)"
    )
    parser.add_argument("--status", metavar="SIGN", help="with --task: the sign in its brackets, x, ' ', - or >")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Edit, and say which version it is now."""
    from infospace.core.resources import Note
    from infospace.editing.edit import edit
    from infospace.editing.task_status import with_status

    _check_options(args)
    with open_from(args, create=False) as space:
        with space.store.reading() as snapshot:
            note = snapshot.get(find(snapshot, args.reference))
            if not isinstance(note, Note):
                raise UsageError(f"{note.id} is a {note.kind}, and notes are edited")
            text = None if args.task is None else with_status(snapshot, note, args.task, args.status)
        content, metadata, draft = _new_values(args, note, text)
        try:
            run = edit(space.store, note, content, metadata, f"edit {args.reference}")
        except InfospaceError as error:
            raise error if draft is None else draft.saved(error) from None
    if draft is not None:
        draft.forget()
    version = note.version + 1 if run else note.version
    if out.json:
        out.document({"id": note.id, "version": version, "changed": run is not None, "run": run})
    else:
        out.text(f"{note.id} is version {version} now ({run})" if run else f"{note.id} is unchanged")
    return 0


def _check_options(args: argparse.Namespace) -> None:
    if (args.task is None) != (args.status is None):
        raise UsageError("--task and --status go together", hint="--task 14 --status x")
    if args.task is not None and args.value is not None:
        raise UsageError("--task changes a sign of the text, and --value all of it", hint="leave one out")


def _new_values(
    args: argparse.Namespace, note: Note, text: str | None
) -> tuple[JSON, dict[str, JSON], EditorFile | None]:
    """Return the new content, the `text` if there is one, and metadata; with the draft of the editor if it was used."""
    fields = dict(_field(pair) for pair in args.metadata)
    if text is not None:
        return text, {**note.metadata, **fields}, None
    if args.value is not None:
        content, front_matter = _value(args.value, note)
        return content, {**(note.metadata if front_matter is None else front_matter), **fields}, None
    if fields:
        return note.content, {**note.metadata, **fields}, None
    return _edited(note)


def _field(pair: str) -> tuple[str, Any]:
    from infospace.core.errors import InvalidJSON
    from infospace.data.json_text import read_json

    key, equals, text = pair.partition("=")
    if not equals or not key:
        raise UsageError(f"{pair!r} is not a field", hint="--metadata key=value")
    try:
        return key, read_json(text)
    except InvalidJSON:
        return key, text


def _value(source: str, note: Note) -> tuple[JSON, dict[str, JSON] | None]:
    """Return the content that a file has, and its front matter where it is Markdown that begins with one."""
    from infospace.data.json_text import read_json
    from infospace.files.formats import read
    from infospace.files.markdown import check_front
    from infospace.files.walk import MAX_BYTES, FileToImport, decode, read_bytes

    if source != "-" and not (lies_there(Path(source)) and Path(source).is_file()):
        raise UsageError(f"there is no file {source!r:.200}", hint="`--value -` reads the text from standard input")
    name = "standard input" if source == "-" else source
    data = sys.stdin.buffer.read() if source == "-" else read_bytes(Path(source))
    if not isinstance(note.content, str):
        return read_json(data, what=repr(name), max_bytes=MAX_BYTES), None
    path = Path(source)
    if source != "-" and path.suffix.lower() in (".md", ".markdown") and decode(data, name).startswith("---"):
        check_front(decode(data, name))
        whole = read(FileToImport(path.absolute().parent, path.name, path.absolute()))[1]()
        return whole.content, whole.metadata
    return decode(data, name), None


def _edited(note: Note) -> tuple[JSON, dict[str, JSON], EditorFile]:
    """Let the user's editor change a note as a file. Raises Invalid when it fails, or leaves what cannot be read."""
    draft = EditorFile(note)
    try:
        draft.edit()
    except NotFound as error:
        draft.forget()
        raise UsageError(error.message, hint="set EDITOR, or give --value or --metadata") from None
    except (InfospaceError, KeyboardInterrupt):
        draft.forget()
        raise
    try:
        content, metadata = draft.read()
    except InfospaceError as error:
        raise draft.saved(error) from None
    return content, metadata, draft
