"""What works on this machine, and what to do about the rest."""

from __future__ import annotations

import argparse
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from infospace.core.errors import InfospaceError
from infospace.core.installation import REINSTALL, install_hint
from infospace.core.plural import pluralize
from tui.command.common.open_space import address_of, open_from
from tui.text.output import Output, UsageError
from tui.text.paths import lies_there

if TYPE_CHECKING:
    from infospace.core.listener import Listener
    from infospace.space import Space

EXAMPLES = """examples:
  infospace doctor
  infospace doctor --space work.db --json
  infospace doctor --deep"""

RESTORE = "restore a copy of the space"
RENEW = "a note is embedded again when it is changed; the files in {}.derived can be removed; else restore a copy"

Verdict = Literal["good", "weak", "bad"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at: `weak` means that something is left out, `bad` that something will not work."""

    what: str
    verdict: Verdict
    message: str
    advice: str | None = None


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--deep", action="store_true", help="also compare every passage, vector and word with the notes they come from"
    )


def execute(args: argparse.Namespace, out: Output) -> int:
    """Look at everything, and say what to do about what is not good."""
    with out.progress() as listener:
        findings = list(examine(args, listener))
    bad = any(finding.verdict == "bad" for finding in findings)
    if out.json:
        rows = [{"what": f.what, "verdict": f.verdict, "message": f.message, "advice": f.advice} for f in findings]
        out.document({"ok": not bad, "findings": rows})
    marks = {"good": ("✓", "green"), "weak": ("!", "yellow"), "bad": ("✗", "red")}
    for finding in findings if not out.json else ():
        mark, style = marks[finding.verdict]
        out.text(f"{mark} {finding.what}: {finding.message}", None if finding.verdict == "good" else style)
        if finding.advice:
            out.text(f"    → {finding.advice}", "dim")
    return 1 if bad else 0


def examine(args: argparse.Namespace, listener: Listener) -> Iterator[Finding]:
    """Look at the machine, the model and the space; the listener hears how far a deep look has come."""
    yield Finding("Python", "good", f"{platform.python_version()} at {sys.executable}")
    yield _packages()
    if not _is_database(address_of(args)):
        yield _index()
    yield _bounds()
    for look in (lambda: _model(args), _language_model, _vocabulary, lambda: _space(args, listener)):
        yield from _safely(look)


def _safely(look: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    try:
        yield from look()
    except InfospaceError as error:
        yield Finding(_WHAT.get(error.kind, "infospace"), "bad", error.message, error.hint)


_WHAT = {"model": "embedding model", "usage": "space", "store": "space", "conflict": "vocabulary"}


def _packages() -> Finding:
    from infospace.search.models.package_download import ENGINE

    missing = [name for name in ENGINE if find_spec(name) is None]
    if missing:
        return Finding("search", "bad", f"not installed: {', '.join(missing)}", REINSTALL)
    return Finding("search", "good", "fastembed and onnxruntime are installed")


def _bounds() -> Finding:
    from infospace.core.bounds import MOST_CHARACTERS, MOST_ITEMS

    message = f"one step makes at most {MOST_ITEMS:,} items and {MOST_CHARACTERS:,} characters"
    advice = '`"budget": {"items": …, "characters": …}` in a plan sets others, `limits` in `serve --config` for a token'
    return Finding("bounds of a step", "good", message, advice)


def _index() -> Finding:
    """Say from which size on a space would gain by an index of vectors, where there is none."""
    from infospace.search.index.ann_index import CROSSOVER

    if find_spec("hnswlib") is not None:
        return Finding("vector index", "good", f"hnswlib is installed, used from {CROSSOVER:,} passages on")
    message = f"every search is exact; a space of {CROSSOVER:,} passages or more would be searched faster with hnswlib"
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    first = "" if compiler else "install a C++ compiler (Debian: apt install g++), then "
    return Finding("vector index", "good", message, f"for a space of that size: {first}{install_hint('hnsw')}")


def _index_of_database(address: str) -> Finding:
    """Say whether the database compares vectors, and whether an index is worth its time."""
    from infospace.search.index.ann_index import CROSSOVER
    from infospace.store.postgres.vector_index import comparing

    result = comparing(address)
    if not result.compares:
        message = "the database has no pgvector, so each process reads the vectors of all notes once"
        advice = "install pgvector on the server (`CREATE EXTENSION vector`), then `infospace model index`"
        return Finding("vector index", "weak", message, advice)
    passages = pluralize(result.passages, "passage")
    if result.is_indexed:
        return Finding("vector index", "good", f"the database compares vectors, of {passages} by an index")
    message = f"the database compares vectors, of {passages} without an index: every search is exact"
    advice = f"`infospace model index` makes one; it is worth its time from {CROSSOVER:,} passages on"
    return Finding("vector index", "weak" if result.passages >= CROSSOVER else "good", message, advice)


def _model(args: argparse.Namespace) -> Iterator[Finding]:
    """The model that the space uses, the default one where there is no space."""
    from infospace.search.models.custom import model_of

    chosen = None
    if _may_exist(address_of(args)):
        # Of a space that cannot be opened, `_space` tells.
        with suppress(UsageError), open_from(args, create=False, new=True) as space, space.store.reading() as snapshot:
            chosen = snapshot.chosen()
    model_info = model_of(chosen)
    verified = "verified" if model_info.verified else "not verified"
    whose = "the default" if chosen is None else "chosen for this space"
    message = f"{model_info.name} ({whose}), threshold {model_info.threshold}, {verified}, in {model_info.folder}"
    yield Finding("embedding model", "good", message)


def _language_model() -> Iterator[Finding]:
    """Ask the model three short questions, where one is configured."""
    import asyncio

    from infospace.core.errors import LanguageModelError, NotConfigured
    from infospace.core.redaction import shown_url
    from infospace.llm.client import client_of
    from infospace.llm.probe import probe
    from infospace.llm.settings import configured, installed, plan_model

    try:
        settings = configured()
        installed(settings.api)
    except NotConfigured as error:
        yield Finding("language model", "weak", f"{error.message}; `extract` and the like fail", error.hint)
        return
    for name in dict.fromkeys((settings.model, plan_model() or settings.model)):
        try:
            result = asyncio.run(probe(client_of(replace(settings, model=name))))
        except LanguageModelError as error:
            yield Finding("language model", "bad", f"{name} does not answer: {error.message}", error.hint)
            continue
        where = f"{name} at {shown_url(settings.url)}"
        structured = "keeps to a JSON schema" if result.structured else "keeps to no JSON schema"
        streams = f"streams (first text after {result.first_text_s:.1f} s)" if result.streams else "does not stream"
        message = f"{where} answers in {result.seconds:.1f} s, {structured}, {streams}"
        advice = None if result.structured else "answers are read and checked here; a model that keeps to it errs less"
        yield Finding("language model", "good" if result.structured else "weak", message, advice)


def _vocabulary() -> Iterator[Finding]:
    from infospace.contract.catalogue import installed

    catalogue = installed()
    yield Finding("vocabulary", "good", f"{len(catalogue.types())} primitives")
    yield from (Finding("vocabulary", "bad", error.message, error.hint) for error in catalogue.broken)


def _is_database(address: str) -> bool:
    return "://" in address


def _may_exist(address: str) -> bool:
    """Whether there may be a space: of a database only opening it tells."""
    return _is_database(address) or lies_there(Path(address))


def _space(args: argparse.Namespace, listener: Listener) -> Iterator[Finding]:
    from infospace.core.ids import Kind

    address = address_of(args)
    if not _may_exist(address):
        yield Finding("space", "good", f"{address} does not exist yet", "`infospace add PATH` makes it")
        return
    with open_from(args, create=False, new=True) as space:
        with space.store.reading() as snapshot:
            notes, pending = snapshot.count(Kind.NOTE), snapshot.pending_count()
        listener.progress(0, notes, "checking")
        wrong = space.store.check()
        listener.progress(notes, notes, "checking")
        text = space.store.address
        size = "" if _is_database(address) else f", {Path(address).stat().st_size / 2**20:.1f} MB"
        yield Finding(
            "space",
            "good" if not wrong else "bad",
            f"{text}: {pluralize(notes, 'note')}{size}, {'consistent' if not wrong else wrong[0]}",
            RESTORE if wrong else None,
        )
        if not space.store.writable:
            yield Finding("space", "weak", f"{text} can be read, not written")
        if pending:
            yield _pending(space, pending, notes)
        if not _is_database(address):
            yield from _in_background(address)
        if _is_database(address):
            yield _index_of_database(address)
        yield from _read_by_earlier_version(space)
        if args.deep:
            yield from (Finding("space", "bad", message) for message in wrong[1:])
            yield from _deep(space, listener)


def _in_background(address: str) -> Iterator[Finding]:
    """Say what is added in the background, or was broken off or failed."""
    from tui.runtime.detached_import import DetachedImport

    record = DetachedImport(address).read()
    if record is None or record.state in ("done", "stopped"):
        return
    if record.running:
        yield Finding("background", "good", f"adding {record}", "`infospace add --stop` ends it")
    else:
        yield Finding("background", "weak", f"adding {record}", "`infospace add --detach` goes on with it")


def _read_by_earlier_version(space: Space) -> Iterator[Finding]:
    """Say which files an earlier version read: their times, aliases and inline fields are not known."""
    from infospace.files.file_changes import READER

    with space.store.reading() as snapshot:
        old = [file for file in snapshot.tracked() if file.reader < READER]
    if old:
        roots = " ".join(sorted({file.root for file in old})[:3])
        message = (
            f"read by an earlier version, so without times, aliases and inline fields: {pluralize(len(old), 'file')}"
        )
        yield Finding("files", "weak", message, f"`infospace add {roots}` reads them again")


def _pending(space: Space, pending: int, notes: int) -> Finding:
    from infospace.search.embedding.service import seconds_in_search
    from infospace.search.models.custom import model_name_and_threshold

    with space.store.reading() as snapshot:
        name, _ = model_name_and_threshold(snapshot.chosen())
    seconds = seconds_in_search()
    by_search = f"each search embeds some, for {seconds:g} seconds; " if seconds else ""
    return Finding(
        "embedding",
        "weak",
        f"{pending:,} of {notes:,} notes wait to be embedded with {name}",
        f"{by_search}`infospace model use {name}` embeds them all",
    )


def _deep(space: Space, listener: Listener) -> Iterator[Finding]:
    from infospace.search.index.consistency import disagreements

    results = disagreements(space, listener)
    if not results:
        yield Finding("discovery", "good", "passages, vectors, words and derived files agree with the notes")
    for index, message in enumerate(results):
        yield Finding("discovery", "bad", message, None if index else RENEW.format(space.store.address))
