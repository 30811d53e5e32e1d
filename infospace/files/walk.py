"""Files to import: which there are under a path, and what each of them holds."""

from __future__ import annotations

import codecs
import os
import re
import stat
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import TypeAlias

from infospace.core.errors import Invalid, NotFound

MARKDOWN = frozenset({".md", ".markdown"})
"""Suffixes of files whose front matter, tags and links are read."""

SUFFIXES = MARKDOWN | {".txt", ".text", ".json", ".jsonl", ".ndjson", ".csv", ".html", ".htm", ".pdf"}
"""Suffixes, in lower case, of the files that are taken from a folder."""

LOOKED_AT = 10_000
"""How many files of a folder that is skipped are looked at, to say how many would have been taken."""

MAX_BYTES = 200 * 10**6
"""The largest file that is read."""


@dataclass(frozen=True, slots=True)
class FileToImport:
    """A file to import: known by its root, an absolute folder, and its path under it, with `/` and in NFC."""

    root: Path
    relative: str
    path: Path


@dataclass(frozen=True, slots=True)
class RefusedFile:
    """A file or folder that is left out, and in `reason` why: the end of a sentence about it."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class SkippedEntry:
    """A file or folder that is no mistake, and is not taken; `reason` ends a sentence about it."""

    path: Path
    reason: str
    is_folder: bool = False

    def count(self) -> int:
        """Count the files: of a folder those that would have been taken, among the first `LOOKED_AT` in it."""
        if not self.is_folder:
            return 1
        if self.path.name == ".git":
            return 0
        names = (name for _, _, files in os.walk(self.path) for name in files)
        return sum(Path(name).suffix.lower() in SUFFIXES for name in islice(names, LOOKED_AT))


def walk(path: Path) -> Iterator[FileToImport | RefusedFile | SkippedEntry]:
    """List what there is to import at `path`, in the order of names, folders where their names stand.

    The root is a folder itself, or the folder of a file, without symbolic links. From a folder come files
    with one of `SUFFIXES`; hidden and git-ignored ones are left out, and so are symbolic links to what lies
    in the root, since that is found at its own place. Links that lead out of it, or nowhere, are refused.
    Raises `NotFound` when there is nothing at `path`.
    """
    try:
        real = Path(os.path.realpath(path, strict=True))
    except OSError as error:
        raise NotFound(f"{str(path)!r} cannot be found: {error.strerror}") from None
    if reason := _unfit(str(real), real.is_file() or real.is_dir()):
        return iter([RefusedFile(real, reason)])
    if real.is_dir():
        return _Folder(real).walk()
    return iter([FileToImport(real.parent, unicodedata.normalize("NFC", real.name), real)])


def read_bytes(path: Path) -> bytes:
    """Read a file. Raises `NotFound` when it is not there, and `Invalid` when it is too large, or no file."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise Invalid(f"{path.name!r} is not a regular file")
        if status.st_size > MAX_BYTES:
            size = f"{status.st_size // 10**6:,} MB"
            raise Invalid(f"{path.name!r} has {size}", hint=f"at most {MAX_BYTES // 10**6} MB are read")
        return path.read_bytes()
    except FileNotFoundError:
        raise NotFound(f"{str(path)!r} is not there any more") from None
    except OSError as error:
        raise Invalid(f"{path.name!r} cannot be read: {error.strerror}") from None


def decode(data: bytes, name: str) -> str:
    """Return the text in a file's bytes. Raises `Invalid` when they are binary, or other text than UTF-8 or -16."""
    encoding = "UTF-8"
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "UTF-16"
    elif (position := data.find(b"\0")) >= 0:
        raise Invalid(f"{name!r} is binary: it has a NUL byte at position {position}", hint="text is read")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        wrong = f"byte 0x{data[error.start]:02x} at position {error.start}"
        raise Invalid(f"{name!r} is not {encoding} text: {wrong}", hint="save it as UTF-8") from None
    if "\0" in text:
        raise Invalid(f"{name!r} is binary: it has a NUL character", hint="text is read")
    return text.removeprefix("\ufeff")


def _unfit(name: str, regular: bool) -> str | None:
    try:
        name.encode()
    except UnicodeEncodeError:
        return "has a name that is not UTF-8"
    return None if regular else "is not a regular file"


class _Folder:
    """The listing of one root, with the git rules that hold in it; the strongest rules come last."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def walk(self) -> Iterator[FileToImport | RefusedFile | SkippedEntry]:
        try:
            rules = self._rules_above()
        except OSError as error:
            yield RefusedFile(self._root, f"cannot be listed: {error.filename!r}: {error.strerror}")
            return
        waiting: list[_Entry] = [_Subfolder(self._root, "", rules)]
        while waiting:
            one = waiting.pop()
            if isinstance(one, _Subfolder):
                waiting.extend(reversed(list(self._inside(one))))
            else:
                yield one

    def _inside(self, folder: _Subfolder) -> Iterator[_Entry]:
        """List one folder in the order of names; its subfolders are listed when it is their turn."""
        try:
            rules = (*folder.rules, *_rules_of(folder.path / ".gitignore", folder.path))
            with os.scandir(folder.path) as listing:
                entries = sorted(listing, key=_in_order)
        except OSError as error:
            yield RefusedFile(folder.path, f"cannot be listed: {error.strerror}")
            return
        taken = ""
        for entry in entries:
            path, name = folder.path / entry.name, unicodedata.normalize("NFC", entry.name)
            is_folder = entry.is_dir(follow_symlinks=False)
            why = "is hidden" if name.startswith(".") else "is git-ignored" if _ignored(path, is_folder, rules) else ""
            if why:
                yield SkippedEntry(path, why, is_folder)
            elif entry.is_symlink():
                yield from self._link(path)
            elif is_folder or path.suffix.lower() in SUFFIXES:
                reason = _unfit(name, is_folder or entry.is_file(follow_symlinks=False))
                if name == taken:
                    reason = "has the same name as another, but for how its accents are written"
                taken, relative = name, folder.relative + name
                if reason:
                    yield RefusedFile(path, reason)
                elif is_folder:
                    yield _Subfolder(path, relative + "/", rules)
                else:
                    yield FileToImport(self._root, relative, path)
            else:
                yield SkippedEntry(
                    path, f"is {path.suffix.lower()}, which is not read" if path.suffix else "has no suffix"
                )

    def _link(self, path: Path) -> Iterator[RefusedFile | SkippedEntry]:
        is_known = path.suffix.lower() in SUFFIXES
        try:
            real = Path(os.path.realpath(path, strict=True))
        except OSError as error:
            if is_known:
                yield RefusedFile(path, f"is a symbolic link that leads nowhere: {error.strerror}")
            return
        if not real.is_relative_to(self._root) and (is_known or real.is_dir()):
            yield RefusedFile(path, f"is a symbolic link that leads out of {str(self._root)!r}")
        else:
            what = "read at its own place" if is_known or real.is_dir() else "not read"
            yield SkippedEntry(path, f"is a symbolic link to what is {what}")

    def _rules_above(self) -> tuple[_Rules, ...]:
        """Rules of the repository around the root; none where they leave out the root that was asked for."""
        above = [self._root, *self._root.parents]
        top = next((index for index, folder in enumerate(above) if (folder / ".git").exists()), 0)
        rules = _rules_of(above[top] / ".git" / "info" / "exclude", above[top])
        for folder, below in pairwise(above[top::-1]):
            rules = (*rules, *_rules_of(folder / ".gitignore", folder))
            if _ignored(below, True, rules):
                return ()
        return rules


@dataclass(frozen=True, slots=True)
class _Subfolder:
    path: Path
    relative: str
    rules: tuple[_Rules, ...]


_Entry: TypeAlias = FileToImport | RefusedFile | SkippedEntry | _Subfolder


@dataclass(frozen=True, slots=True)
class _Rule:
    """A line of a `.gitignore`: `whole` compares the path from its folder, otherwise the last name."""

    fits: Callable[[str], object]
    whole: bool
    folders_only: bool
    ignores: bool


@dataclass(frozen=True, slots=True)
class _Rules:
    """The lines of one `.gitignore`, the last first; they hold in the folder whose path has `length`."""

    length: int
    rules: tuple[_Rule, ...]


def _in_order(entry: os.DirEntry[str]) -> tuple[str, bool, str]:
    composed = unicodedata.normalize("NFC", entry.name)
    return composed, entry.name != composed, entry.name


def _ignored(path: Path, is_folder: bool, rules: Sequence[_Rules]) -> bool:
    """Whether git would leave `path` out of a folder that it does not: the last rule that fits decides."""
    whole = _as_bytes(path)
    name = whole.rpartition("/")[2]
    for some in reversed(rules):
        inner = whole[some.length :].lstrip("/")
        for rule in some.rules:
            if (is_folder or not rule.folders_only) and rule.fits(inner if rule.whole else name):
                return rule.ignores
    return False


def _as_bytes(path: Path) -> str:
    """Spell a path with a character for each byte, since that is what git's patterns compare."""
    return os.fsencode(path.as_posix()).decode("latin-1")


def _rules_of(file: Path, folder: Path) -> tuple[_Rules, ...]:
    if not file.is_file():
        return ()
    lines = file.read_bytes().removeprefix(codecs.BOM_UTF8).decode("latin-1").split("\n")
    rules = tuple(rule for line in reversed(lines) if (rule := _rule(line.removesuffix("\r"))))
    return (_Rules(len(_as_bytes(folder)), rules),) if rules else ()


def _rule(line: str) -> _Rule | None:
    """Read a line as gitignore(5) has it; None for a comment, and for what matches nothing."""
    import re2

    glob = line.rstrip(" ")
    if (len(glob) - len(glob.rstrip("\\"))) % 2:
        glob += line[len(glob) :][:1]
    ignores, glob = not glob.startswith("!"), glob.removeprefix("!")
    folders_only, glob = glob.endswith("/"), glob.removesuffix("/")
    if line.startswith("#") or not glob:
        return None
    options = re2.Options()
    options.log_errors = False
    try:
        pattern = re2.compile("(?s)" + _regex(glob.removeprefix("/")), options)
    except re2.error:
        return None
    return _Rule(pattern.fullmatch, "/" in glob, folders_only, ignores)


_GLOB = re.compile(
    r"(?P<any>(?:(?<=/)|^)\*\*+/)|(?P<rest>(?:(?<=/)|^)\*\*+$)|(?P<stars>\*+)|(?P<one>\?)"
    r"|\[(?P<not>[!^]?)(?P<set>\]?(?:\[:[a-z]+:\]|\\.|[^\]\\])*)\]|\\?(?P<letter>.)",
    re.DOTALL,
)
_NEVER = r"[^\x00-\x{10FFFF}]"
_IN_SET = re.compile(r"(?P<name>\[:[a-z]+:\])|(?P<first>\\?.)(?:-(?P<last>\\?[^\]]))?", re.DOTALL)


def _regex(glob: str) -> str:
    """Translate a pattern of gitignore(5) to RE2, which matches in linear time whatever the pattern."""
    return "".join(map(_part, _GLOB.finditer(glob)))


def _part(match: re.Match[str]) -> str:
    if match["any"]:
        return "(?:.*/)?"
    if match["rest"]:
        return ".+"
    if match["stars"]:
        return "[^/]*"
    if match["one"]:
        return "[^/]"
    if match["letter"]:
        return _NEVER if match[0] in "[\\" else re.escape(match["letter"])
    inside = "".join(map(_span, _IN_SET.finditer(match["set"])))
    if match["not"]:
        return f"[^/{inside}]"
    return f"[{inside}]" if inside else _NEVER


def _span(match: re.Match[str]) -> str:
    if match["name"]:
        return match["name"]
    first = match["first"].removeprefix("\\") or "\\"
    last = (match["last"] or "").removeprefix("\\") or match["last"] or first
    if first == last == "/":
        return ""
    return re.escape(first) if first >= last else f"{re.escape(first)}-{re.escape(last)}"
