"""What tests of every room share: the real embedding model, and a space of their own."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, is_hypothesis_test, settings

TESTS = Path(__file__).parent
sys.path.insert(0, str(TESTS))

if TYPE_CHECKING:
    from chatting import Endpoint
    from known_vectors import KnownVectors
    from warm import WarmServer

    from infospace import Space
    from infospace.search.models.find import ModelInfo

# Tests of search and of benchmarks import it, in whatever order a process has them.
pytest.register_assert_rewrite("made_search")

settings.register_profile(
    "busy",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=not os.environ.get("INFOSPACE_PROVE"),
    phases=set(Phase) - ({Phase.shrink, Phase.explain} if "MUTANT_UNDER_TEST" in os.environ else set()),
)
settings.load_profile("busy")
"""A property holds however long its examples take: the cores may be busy with something else.

The examples are the same each time, so that a change is judged by itself alone; `make prove` looks for new ones.
Of a fault that was planted it is enough to know that it was noticed: its example is not made smaller.
"""

os.environ["INFOSPACE_EMBED_SECONDS"] = "inf"
"""What a search proves does not hang on how much it could embed within the usual seconds."""

ENVIRONMENT = dict(os.environ)
"""The environment before any test or fixture changes it, with which warm processes begin."""


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what it runs in the background so, and every process that a test interrupts would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect no garbage while tests are collected: half a million objects that all stay are gone through in vain."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Let each of several processes begin to collect in another folder of the tests.

    In a fresh clone each file has to be compiled once, with its assertions rewritten. Beginning in one place, all
    processes would compile the same file at the same time; so each finds what the others have left behind.
    """
    report = yield
    if "PYTEST_XDIST_WORKER" in os.environ and isinstance(collector, pytest.Dir) and collector.path == TESTS:
        entries = report.result
        share = int(os.environ["PYTEST_XDIST_WORKER"].removeprefix("gw")) / int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
        files = [sum(1 for _ in entry.path.rglob("test_*.py")) if entry.path.is_dir() else 1 for entry in entries]
        before = list(accumulate(files, initial=0))
        begin = min(range(len(entries)), key=lambda number: abs(before[number] - share * before[-1]))
        report.result = entries[begin:] + entries[:begin]
    return report


def pytest_configure(config: pytest.Config) -> None:
    """Let the end of the process free all there is: DuckDB prints a list of what is left over.

    What is added first is called last: pytest looks for what was never awaited or closed before it, several times.
    """
    config.add_cleanup(gc.unfreeze)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with slow tests come first: who has none left takes over others, and none is left with a slow one.

    The tests of a file stay together, since they share what is dear to make. All processes have to have one order,
    wherever each began to collect: pytest brings together what shares a fixture of a session only after this.
    """
    slow = {item.path for item in items if item.get_closest_marker("slow") is not None}
    items.sort(key=lambda item: (item.path not in slow, item.path.relative_to(TESTS).parts[0]))
    from fewer import ALL_EXAMPLES, take_fewer

    if not ALL_EXAMPLES:
        for item in items:
            if isinstance(item, pytest.Function) and is_hypothesis_test(item.obj):
                take_fewer(item.obj)


@pytest.fixture(scope="session")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> KnownVectors:
    """What the model computed for any test."""
    from known_vectors import KnownVectors
    from once import make_once

    return KnownVectors(make_once(tmp_path_factory, "vectors", lambda _: None))


@pytest.fixture(scope="module", autouse=True)
def known_vectors(request: pytest.FixtureRequest, vectors: KnownVectors) -> Iterator[None]:
    """What the model computed for one test is not computed for another one, whichever process plays it.

    Each test has a space of its own, and most have the same fifty tools in it, whose descriptions take the model more
    than a second. What a file makes once for all its tests knows the vectors, too. Where the computing itself is
    tried, in `tests/infospace/search`, all of it is done.
    """
    if "tests/infospace/search/" in request.path.as_posix():
        yield
        return
    from infospace.search.embedding.embedder import Embedder

    with pytest.MonkeyPatch.context() as patched:
        for name, method in vectors.methods().items():
            patched.setattr(Embedder, name, method)
        yield


@pytest.fixture(scope="session")
def warm_server() -> Iterator[WarmServer]:
    """The process that warm processes are forks of."""
    from warm import SERVING

    yield SERVING
    SERVING.close()


@pytest.fixture(scope="module")
def warm_processes(request: pytest.FixtureRequest, vectors: KnownVectors) -> Iterator[None]:
    """Processes of the command and of tests' scripts begin with the packages loaded, but for `make prove`.

    They take the vectors that are known as well. From the first test of a file that asks for it, those of the whole
    file do, and those that its tests share.
    """
    if os.environ.get("INFOSPACE_PROVE"):
        yield
        return
    from warm import SERVING, WarmPopen

    SERVING.vectors, SERVING.environment = vectors.folder, ENVIRONMENT
    request.getfixturevalue("warm_server")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(subprocess, "Popen", WarmPopen)
        yield


@pytest.fixture(scope="session")
def model() -> ModelInfo:
    """The default weights, fetched once for the machine."""
    from infospace.search.models.find import get_model

    return get_model()


@pytest.fixture(scope="session")
def empty_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A space file with nothing in it, to be copied: that takes a quarter of the time of making one."""
    from infospace import open_space

    path = tmp_path_factory.mktemp("empty") / "space.db"
    open_space(path).close()
    return path


@pytest.fixture
def space(tmp_path: Path, empty_file: Path) -> Iterator[Space]:
    """An empty space in a file."""
    from infospace import open_space

    shutil.copyfile(empty_file, tmp_path / "space.db")
    with open_space(tmp_path / "space.db") as opened:
        yield opened


@pytest.fixture(scope="session")
def searched_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A space file without notes, whose primitives are embedded: a process that finds tools in it has none to embed.

    It is made once for all processes that test side by side. Copy it before opening it.
    """
    from once import make_once

    from infospace import open_space
    from infospace.tools.search.results import ToolQuery
    from planner.metatools.search_tools import find_tools

    def make(folder: Path) -> None:
        with open_space(folder / "space.db") as opened:
            find_tools(opened, ToolQuery("rows"))

    return make_once(tmp_path_factory, "searched", make) / "space.db"


@pytest.fixture(scope="session")
def sample_file(model: ModelInfo, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A space file with the sample notes, embedded. Copy it before writing to it."""
    from once import make_once

    from infospace import open_space
    from infospace.core.listener import NullListener
    from infospace.files.import_files import import_paths

    assert model.dimension == 384
    notes = Path(__file__).parent.parent / "tui" / "sample" / "notes"

    def make(folder: Path) -> None:
        with open_space(folder / "sample.db") as opened:
            import_paths(opened, [notes], NullListener())
            opened.embedding.catch_up(NullListener())

    return make_once(tmp_path_factory, "sample", make) / "sample.db"


@pytest.fixture
def sample_space(sample_file: Path, tmp_path: Path) -> Iterator[Space]:
    """A space of the sample notes, embedded, to read and write."""
    import shutil

    from infospace import open_space

    path = tmp_path / "sample.db"
    shutil.copy(sample_file, path)
    with open_space(path) as opened:
        yield opened


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    """A language model's endpoint on loopback, which the environment names; no answer is waited for over long."""
    from chatting import serving

    for name in (
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "ANTHROPIC_API_KEY",
        "INFOSPACE_LLM_API",
        "INFOSPACE_LLM_KEY",
        "INFOSPACE_LLM_CONTEXT",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("infospace.llm.openai_client._LEARNT", {})
    monkeypatch.setattr("infospace.llm.anthropic_client._LEARNT", {})
    with serving() as endpoint:
        for name, value in {"URL": endpoint.url, "MODEL": "made", "TIMEOUT": "60", "RETRIES": "2"}.items():
            monkeypatch.setenv(f"INFOSPACE_LLM_{name}", value)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield endpoint


@pytest.fixture(scope="session")
def node(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the servers from npm, kept in pytest's cache if there is one."""
    from nodeservers import VERSIONS, install

    if shutil.which("npm") is None and not os.environ.get("INFOSPACE_ALL_TESTS"):
        pytest.skip("there is no Node here: `npm` is not found")
    cache = getattr(pytestconfig, "cache", None)
    name = "infospace-node-" + "-".join(VERSIONS.values())
    return install(tmp_path_factory.mktemp("node") if cache is None else Path(cache.mkdir(name)))
