"""`infospace completion`: what the scripts complete, asked of a real shell."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

ASK = """
source "$1"; shift
function=$(complete -p infospace); function=${function#*-F }; function=${function%% *}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
"$function" infospace "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The script for bash, as the command prints it."""
    import contextlib
    import io

    from tui.command import main

    path = tmp_path_factory.mktemp("completion") / "infospace.bash"
    with path.open("w") as file, contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())) as printed:
        assert main(["completion", "bash"]) == 0
        printed.seek(0)
        file.write(printed.read())
    return path


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["se"], {"search", "serve"}),
        (["search", "--mo"], {"--mode"}),
        (["search", "--mode", "k"], {"keyword"}),
        (["tools", "ca"], {"call", "categories"}),
        (["help", "glo"], {"glossary"}),
        (["run", "pl"], {"plan.json"}),
    ],
)
def test_bash_completes_commands_options_values_topics_and_files(
    script: Path, tmp_path: Path, words: list[str], offered: set[str]
) -> None:
    (tmp_path / "plan.json").write_text("[]")
    done = subprocess.run(
        ["bash", "--norc", "-c", ASK, "bash", str(script), "infospace", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert set(done.stdout.split()) == offered, done.stderr


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_read_their_script(cli: Any, tmp_path: Path, shell: str) -> None:
    said = cli("completion", shell)
    assert said.code == 0
    assert "discover" not in said.err
    for name in ("search", "completion", "--mode"):
        assert name.removeprefix("--") in said.out
    program = shutil.which(shell)
    if program is not None:
        (tmp_path / "script").write_text(said.out)
        subprocess.run([program, "-n", str(tmp_path / "script")], check=True, timeout=60)


def test_an_unknown_shell_is_a_wrong_call(cli: Any) -> None:
    said = cli("completion", "tcsh")
    assert (said.code, said.out) == (2, "")
    assert "tcsh" in said.err
