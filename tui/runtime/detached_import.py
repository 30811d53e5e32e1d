"""Adding files in a process of its own, which goes on after the command that began it.

What it is to do and how far it is stands in `SPACE.add.json`. The process holds a lock on `SPACE.add.lock`, which its
end lets go, also by a kill: a record that says `running` without anybody holding the lock is of an import that was
broken off. A process that stands by starts it again when it is killed. Whatever was read and embedded is in the space,
so that beginning anew does nothing twice.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from infospace.core.clock import now
from infospace.core.errors import InfospaceError, Invalid, ModelError
from infospace.files.atomic_write import write_atomically
from tui.text.pace import RateMeter

if TYPE_CHECKING:
    from infospace.core.listener import Speech

State = Literal["running", "done", "stopped", "failed"]

WRITE_SECONDS = 0.5
"""How often it is written down how far it is."""

START_SECONDS = 60.0
"""Within so long a process that was started holds its lock, also on a busy machine."""

STOP_SECONDS = 60.0
"""Within so long it ends when it is told to: a batch of text is embedded to its end."""

MAX_STARTS = 3
"""How often in a row it is started again without having come further."""


@dataclass(frozen=True, slots=True)
class ImportRecord:
    """What is added in the background, and how far that is: `pid` stands by, and `worker` adds."""

    paths: tuple[str, ...]
    prune: bool = False
    git_times: bool = False
    state: State = "running"
    pid: int = 0
    worker: int = 0
    started: str = ""
    updated: str = ""
    what: str = ""
    done: int = 0
    total: int = 0
    per_second: float | None = None
    message: str = ""
    """What came of it, as soon as it has ended."""
    broken_off: bool = False
    """Whether it says that it runs, and no process does."""

    @property
    def running(self) -> bool:
        """Whether a process is at it."""
        return self.state == "running" and not self.broken_off

    def to_json(self) -> dict[str, Any]:
        """Return the documented object."""
        return {**asdict(self), "paths": list(self.paths), "running": self.running}

    def __str__(self) -> str:
        names = ", ".join(self.paths)
        if self.state != "running":
            return f"{names}: {self.message}"
        rate = "" if self.per_second is None else f", {self.per_second:,.0f} a second"
        far = f"{self.what} {self.done:,} of {self.total:,}{rate}" if self.what else "looking for files"
        return f"{names}: broken off while {far}" if self.broken_off else f"{names}: {far}"


class DetachedImport:
    """The import in the background of the space in a file; there is at most one at a time."""

    def __init__(self, address: str) -> None:
        if "://" in address:
            raise Invalid(
                "a space in a database is not added to in the background",
                hint="leave --detach out; or let the system's own means keep `infospace add` running",
            )
        self._address = str(Path(address).absolute())
        self._record = Path(f"{self._address}.add.json")
        self._lock = Path(f"{self._address}.add.lock")
        self.log = Path(f"{self._address}.add.log")

    def read(self) -> ImportRecord | None:
        """Return what is known of it, None where nothing was ever added so. Raises Invalid for a damaged record."""
        try:
            fields = json.loads(self._record.read_bytes())
            record = ImportRecord(**fields | {"paths": tuple(fields["paths"])})
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, KeyError) as error:
            raise Invalid(f"{str(self._record)!r} is damaged: {error}", hint="remove it, and add again") from error
        if record.state == "running" and not self._is_locked():
            again = json.loads(self._record.read_bytes())  # it may have ended between the two looks
            record = replace(record, state=again["state"], message=again["message"])
            return replace(record, broken_off=record.state == "running")
        return record

    def start(self, paths: Sequence[Path], *, prune: bool, git_times: bool) -> ImportRecord:
        """Begin, or without paths go on with what was broken off or stopped; return as soon as a process is at it.

        Raises Invalid where one is at it already, or where there is nothing to go on with.
        """
        before = self.read()
        if before is not None and before.running:
            raise Invalid(f"files are being added already: {before}", hint="`infospace add --stop` ends that")
        if paths:
            record = ImportRecord(tuple(str(path.absolute()) for path in paths), prune, git_times)
        elif before is None or before.state == "done":
            raise Invalid("there is nothing to go on with", hint="name the files and folders to add")
        else:
            record = ImportRecord(before.paths, before.prune, before.git_times)
        self.write(replace(record, started=now(), updated=now()))
        with self.log.open("wb") as log, Path(os.devnull).open("rb") as nothing:
            process = os.posix_spawn(
                sys.executable,
                [sys.executable, "-m", "tui.runtime.detached_import", self._address],
                os.environ,
                file_actions=[(os.POSIX_SPAWN_DUP2, nothing.fileno(), 0)]
                + [(os.POSIX_SPAWN_DUP2, log.fileno(), stream) for stream in (1, 2)],
                setsid=True,
            )
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            result = self.read()
            if result is not None and (result.pid == process or result.state != "running"):
                return result
            if os.waitpid(process, os.WNOHANG) != (0, 0):
                break
            time.sleep(0.05)
        texts = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        raise Invalid(f"the process in the background did not begin: {texts[-1] if texts else 'it said nothing'}")

    def stop(self) -> ImportRecord:
        """End it, and wait for that; what was added stays. Raises Invalid where nothing is being added."""
        record = self.read()
        if record is None or not record.running:
            raise Invalid("nothing is being added in the background", hint=None if record is None else str(record))
        end, signalled_worker = time.monotonic() + STOP_SECONDS, 0
        while record.running and time.monotonic() < end:
            if record.worker != signalled_worker:  # it may be just being started, or started again
                signalled_worker = record.worker
                with suppress(ProcessLookupError):
                    os.kill(signalled_worker, signal.SIGINT)
            time.sleep(0.05)
            record = self.read() or record
        return record

    def write(self, record: ImportRecord) -> None:
        """Write it down."""
        write_atomically(self._record, json.dumps(asdict(replace(record, broken_off=False))).encode())

    def _is_locked(self) -> bool:
        import fcntl

        try:
            with self._lock.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False

    # In the background

    def stand_by(self) -> None:
        """Hold the lock, and let a process add; start it again when it is killed. SIGTERM ends both."""
        import fcntl

        with self._lock.open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            record = self.read_own()
            self.write(replace(record, pid=os.getpid()))
            process: subprocess.Popen[bytes] | None = None

            def end(*_: object) -> None:
                if process is not None:
                    process.send_signal(signal.SIGINT)

            signal.signal(signal.SIGTERM, end)
            starts = 0
            while starts < MAX_STARTS:
                before = self.read_own().done
                process = subprocess.Popen(  # noqa: S603 - our own module
                    [sys.executable, "-m", "tui.runtime.detached_import", self._address, "work"],
                    pass_fds=(lock.fileno(),),  # as long as it works the lock is held, though this one be killed
                )
                if process.wait() >= 0:
                    return
                starts = 1 if self.read_own().done > before else starts + 1
            self.write(replace(self.read_own(), state="failed", message=f"killed {MAX_STARTS} times in a row"))

    def read_own(self) -> ImportRecord:
        """Return the record as its process reads it, which is at it."""
        fields = json.loads(self._record.read_bytes())
        return ImportRecord(**fields | {"paths": tuple(fields["paths"])})

    def work(self) -> None:
        """Add and embed, and write down how far that is and what came of it."""
        from infospace.files.import_files import import_paths
        from infospace.files.tracked_files import first_to_embed
        from infospace.space import open_space
        from tui.runtime.gc_control import collected_rarely

        for one in (signal.SIGINT, signal.SIGTERM):  # a shell starts what is in its background with SIGINT ignored
            signal.signal(one, signal.default_int_handler)
        self.write(replace(self.read_own(), worker=os.getpid()))
        listener = _Recorder(self)
        record = listener.record
        paths = [Path(path) for path in record.paths]
        state: State = "failed"
        try:
            with open_space(self._address) as space, collected_rarely():
                done = import_paths(space, paths, listener, prune=record.prune, git_times=record.git_times)
                with space.store.reading() as snapshot:
                    first = first_to_embed(snapshot, paths)
                passages = space.embedding.catch_up(listener, first=first)
            failed = f", {len(done.failed):,} not read" if done.failed else ""
            state, message = "done", f"{done.added:,} added, {done.changed:,} changed, {passages:,} embedded{failed}"
            for failure in done.failed:
                print(f"not read: {failure['path']}: {failure['reason']}")  # noqa: T201 - this is its log
        except KeyboardInterrupt:
            state, message = "stopped", "stopped: what was added stays, and `infospace add --detach` goes on"
        except ModelError as error:
            message = f"kept, but not embedded: {error}"
        except InfospaceError as error:
            message = str(error)
        except Exception as error:
            message = f"infospace has a bug ({type(error).__name__}: {error}); {str(self.log)!r} says where"
            self.write(replace(listener.record, state=state, message=message, updated=now()))
            raise
        self.write(replace(listener.record, state=state, message=message, updated=now()))


class _Recorder:
    """Writes down how far an import is, now and then."""

    def __init__(self, job: DetachedImport) -> None:
        self.record = job.read_own()
        self._job = job
        self._written = 0.0
        self._paces: dict[str, RateMeter] = {}

    def message(self, kind: Speech, text: str) -> None:
        """Put it into the log."""
        print(f"{kind}: {text}", flush=True)  # noqa: T201 - this is its log

    def progress(self, done: int, total: int, what: str) -> None:
        """Take how far it is."""
        pace = self._paces.setdefault(what.partition(";")[0], RateMeter())
        pace.mark(done)
        self.record = replace(
            self.record, done=done, total=total, what=what, per_second=pace.rate(), updated=now(), state="running"
        )
        if time.monotonic() - self._written >= WRITE_SECONDS:
            self._written = time.monotonic()
            self._job.write(self.record)


def main(arguments: Sequence[str]) -> None:
    """Be the process in the background: that which stands by, or with `work` the one that adds."""
    job = DetachedImport(arguments[0])
    if "work" in arguments[1:]:
        job.work()
        return
    with suppress(KeyboardInterrupt):
        job.stand_by()


if __name__ == "__main__":
    main(sys.argv[1:])
