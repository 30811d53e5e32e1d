"""Runs a server's process, and leaves nothing of it behind, however its owner ends.

Called as `guard.py DESCRIPTOR COMMAND [ARGUMENT…]`, with the server's standard input, output and error as its own. The
descriptor is the reading end of a pipe whose other end the owner alone has: when that is closed, on purpose or because
the owner was killed, the server has a moment to end by itself, is then told to, and then killed with all that it
started. On Linux even what has left its process group is found: it becomes a child of this process.

Nothing but the standard library is imported, and little of that: it is started with every server.
"""

import contextlib
import os
import select
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

GRACE_S = 2.0
"""Seconds that a server has to end once its standard input is closed, and again once it is told to."""
NOT_RUN = 127
"""The exit code of a command that cannot be run."""
_SUBREAPER, _DEATH_SIGNAL = 36, 1
"""PR_SET_CHILD_SUBREAPER and PR_SET_PDEATHSIG of prctl(2): orphans come here, and the server dies with its guard."""


def main(arguments: list[str]) -> int:
    """Run the command until it ends or the owner is gone; return its exit code, 128 and the signal that ended it."""
    lifeline, command = int(arguments[0]), arguments[1:]
    prctl = _prctl()
    prctl(_SUBREAPER, 1, 0, 0, 0)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake)
    server = os.fork()
    if not server:
        prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        _become(command)
    with contextlib.suppress(OSError):
        os.setpgid(server, server)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    status = _until(server, woken, lifeline)
    if status is None:
        status = _end(server, woken)
    _kill_group(server, signal.SIGKILL)
    _kill_orphans()
    return status


def _prctl() -> "Callable[..., object]":
    """Return prctl(2), where there is one."""
    if sys.platform != "linux":
        return lambda *_: None
    import ctypes

    result: Callable[..., object] = ctypes.CDLL(None).prctl
    return result


def _become(command: list[str]) -> None:
    """Become the server, in a process group of its own. Never returns."""
    try:
        os.setpgid(0, 0)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        os.execvp(command[0], command)  # noqa: S606 - it is what the entry says, without a shell
    except OSError as error:
        os.write(2, f"{command[0]!r} cannot be run: {error.strerror}\n".encode())
    finally:
        os._exit(NOT_RUN)


def _until(server: int, woken: int, lifeline: int | None, seconds: float | None = None) -> int | None:
    """Wait for the server's end; None when the lifeline was cut, or the time is over, before."""
    end = None if seconds is None else time.monotonic() + seconds
    watched = [woken] if lifeline is None else [woken, lifeline]
    while True:
        status = _status(server)
        if status is not None:
            return status
        left = None if end is None else end - time.monotonic()
        if left is not None and left <= 0:
            return None
        ready = select.select(watched, [], [], left)[0]
        if woken in ready:
            os.read(woken, 512)
        if lifeline in ready and not os.read(lifeline, 512):
            return None


def _status(server: int) -> int | None:
    result = None
    with contextlib.suppress(ChildProcessError):
        while True:
            number, status = os.waitpid(-1, os.WNOHANG)
            if not number:
                return result
            if number == server:
                code = os.waitstatus_to_exitcode(status)
                result = code if code >= 0 else 128 - code
    return result


def _end(server: int, woken: int) -> int:
    for signal_number in (None, signal.SIGTERM, signal.SIGKILL):
        if signal_number is not None:
            _kill_group(server, signal_number)
        status = _until(server, woken, None, GRACE_S)
        if status is not None:
            return status
    return 128 + signal.SIGKILL


def _kill_group(server: int, signal_number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(server, signal_number)


def _kill_orphans() -> None:
    """Kill what the server started outside of its group and what that started, as far as the system tells."""
    me = os.getpid()
    for _ in range(100):
        try:
            with open(f"/proc/{me}/task/{me}/children", encoding="ascii") as file:  # noqa: PTH123 - starts faster
                children = [int(number) for number in file.read().split()]
        except OSError:
            return
        if not children:
            return
        for child in children:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child, 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
