"""What begins as a fork with the packages loaded is a process like any other."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from warm import READ_AT_START, SERVING, WarmPopen, WarmServer

WARM = pytest.mark.skipif("INFOSPACE_PROVE" in os.environ, reason="all processes are started as usual")
LOADED = "import sys; print('tui.command.runs.run' in sys.modules)"
SCRIPT = """
import os, signal, sys

loaded = "tui.command.runs.run" in sys.modules
mine = os.getppid(), os.getpid(), os.getsid(0) == os.getpid(), os.getcwd(), sys.argv[1:], os.environ.get("ONLY")
print(*mine, loaded, flush=True)
print(sorted(os.listdir("/proc/self/fd")), file=sys.stderr)
told = sys.stdin.readline()
if told == "interrupt":
    os.kill(os.getpid(), signal.SIGINT)
sys.exit(told and int(told) if told else "no more")
"""


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warm_processes: None) -> str:
    """A script that counts as one of the tests'."""
    monkeypatch.setattr("warm.TESTS", tmp_path)
    (tmp_path / "script.py").write_text(SCRIPT)
    return str(tmp_path / "script.py")


@WARM
@pytest.mark.parametrize(
    ("told", "code", "error"),
    [("3", 3, ""), ("", 1, "no more\n"), ("interrupt", -signal.SIGINT, "KeyboardInterrupt\n"), ("x", 1, "ValueError")],
)
def test_a_warm_process_is_the_child_of_the_test_with_what_it_was_given(
    script: str, tmp_path: Path, told: str, code: int, error: str
) -> None:
    """Its words, folder, environment, session, standard streams and no other descriptor; its exit code or signal.

    The packages are loaded before it begins.
    """
    command = [sys.executable, script, "a", "ü b"]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    environment = {"ONLY": "this", "PATH": os.environ["PATH"]} | {
        name: value for name, value in os.environ.items() if name.startswith(READ_AT_START)
    }
    process = subprocess.Popen(command, **pipes, cwd=tmp_path, env=environment, start_new_session=True, text=True)
    assert isinstance(process, WarmPopen)
    out, err = process.communicate(told)
    assert out == f"{os.getpid()} {process.pid} True {tmp_path} {['a', 'ü b']} this True\n"
    assert err.startswith("['0', '1', '2', '3']\n"), "the fourth is the folder that is listed"
    assert error in err
    assert process.returncode == code


def test_a_warm_process_is_killed_as_any_other(script: str) -> None:
    """The signal reaches it, and nothing else of it is left."""
    with subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.kill()
        assert process.wait(60) == -signal.SIGKILL
    with pytest.raises(ChildProcessError):
        os.waitpid(process.pid, 0)


@WARM
def test_a_text_is_played_as_python_does(script: str, tmp_path: Path) -> None:
    """Its words, its own folder to import from, and its names are those of `__main__`."""
    (tmp_path / "beside.py").write_text("name = 'beside'")
    text = "import sys, beside, __main__; known = 1; print(sys.argv, beside.name, __main__.known, sys.path[0] == '')"
    command = [sys.executable, "-c", text, "a", "b"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert isinstance(process, WarmPopen)
        assert process.communicate() == ("['-c', 'a', 'b'] beside 1 True\n", "")
    assert process.returncode == 0


@WARM
def test_what_one_test_changes_in_the_environment_leaves_the_processes_of_others_warm(
    warm_processes: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process for which the clock stands elsewhere begins cold, even the first one; those after it do not."""
    server = WarmServer()
    server.vectors, server.environment = SERVING.vectors, SERVING.environment
    monkeypatch.setattr("warm.SERVING", server)

    def loaded() -> str:
        return subprocess.run([sys.executable, "-c", LOADED], check=True, capture_output=True, text=True).stdout

    try:
        with monkeypatch.context() as changed:
            changed.setenv("TZ", "Etc/GMT-2")
            assert loaded() == "False\n"
        assert loaded() == "True\n"
    finally:
        server.close()
