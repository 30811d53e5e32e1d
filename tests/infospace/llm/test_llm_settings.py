"""What the environment says of the language model."""

from __future__ import annotations

import subprocess
import sys

import pytest

from infospace import Invalid, NotConfigured, Space
from infospace.llm.settings import CONTEXT, NO_KEY, OPENAI, RETRIES, TIMEOUT, Settings, configured

NAMES = (
    *(f"INFOSPACE_LLM_{name}" for name in ("MODEL", "URL", "KEY", "TIMEOUT", "RETRIES", "CONTEXT")),
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
)


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment that names no model."""
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


def test_without_a_model_the_error_says_what_to_set(monkeypatch: pytest.MonkeyPatch, space: Space) -> None:
    """Only what is missing."""
    with pytest.raises(
        NotConfigured, match=r"no language model is configured: set INFOSPACE_LLM_MODEL and INFOSPACE_LLM_URL"
    ):
        _ = space.language_model
    monkeypatch.setenv("INFOSPACE_LLM_MODEL", "m")
    with pytest.raises(
        NotConfigured, match=r"no language model is configured: set INFOSPACE_LLM_URL \(or OPENAI_API_KEY\)"
    ):
        configured()
    monkeypatch.setenv("INFOSPACE_LLM_URL", "http://here/v1")
    assert space.language_model.name == "m"


def test_a_local_endpoint_needs_no_key_and_gets_none_of_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key of OpenAI stays at home."""
    monkeypatch.setenv("INFOSPACE_LLM_MODEL", "m")
    monkeypatch.setenv("INFOSPACE_LLM_URL", "http://here/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere/v1")
    assert configured() == Settings("m", "http://here/v1", NO_KEY, TIMEOUT, RETRIES, CONTEXT)


def test_what_is_set_for_openai_is_used_where_nothing_else_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its key with its own address, or with the one that is set for it; our own key comes first."""
    monkeypatch.setenv("INFOSPACE_LLM_MODEL", "m")
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    assert (configured().url, configured().key) == (OPENAI, "secret")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://proxy/v1")
    assert (configured().url, configured().key) == ("http://proxy/v1", "secret")
    monkeypatch.setenv("INFOSPACE_LLM_KEY", "own")
    assert configured().key == "own"


def test_without_the_client_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch, space: Space) -> None:
    """As where only the core is installed."""
    monkeypatch.setenv("INFOSPACE_LLM_MODEL", "m")
    monkeypatch.setenv("INFOSPACE_LLM_URL", "http://here/v1")
    monkeypatch.setattr("infospace.llm.settings.find_spec", lambda _name: None)
    with pytest.raises(NotConfigured, match=r"the client of language models is not installed \(pip install 'infospace"):
        _ = space.language_model


def test_a_key_is_not_shown() -> None:
    """Settings may stand in a traceback."""
    assert "secret" not in repr(Settings("m", "u", "secret"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TIMEOUT", "soon"),
        ("TIMEOUT", "0"),
        ("TIMEOUT", "nan"),
        ("RETRIES", "-1"),
        ("RETRIES", "1.5"),
        ("CONTEXT", "0"),
    ],
)
def test_a_number_that_is_none_is_said(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """With the variable's name."""
    monkeypatch.setenv("INFOSPACE_LLM_MODEL", "m")
    monkeypatch.setenv("INFOSPACE_LLM_URL", "http://here/v1")
    monkeypatch.setenv(f"INFOSPACE_LLM_{name}", value)
    with pytest.raises(Invalid, match=f"INFOSPACE_LLM_{name} is '{value}'"):
        configured()


def test_the_client_is_not_loaded_before_it_is_used() -> None:
    """It takes longer to load than all the rest."""
    code = (
        "import sys, infospace.llm.client, infospace.llm.structured_output, infospace.llm.meter\n"
        "import primitives.assess, planner.execute.run\n"
        "print(sorted({'openai', 'httpx2', 'jsonschema', 'numpy'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("name", ["INFOSPACE_LLM_URL", "OPENAI_BASE_URL"])
@pytest.mark.parametrize(
    "url",
    ["localhost:11434/v1", "here/v1", "ftp://here/v1", "http://", "http://here:port/v1", "http://[::1", "http://a b"],
)
def test_a_url_that_nothing_could_reach_is_refused_before_anything_is_tried(
    monkeypatch: pytest.MonkeyPatch, name: str, url: str
) -> None:
    monkeypatch.setenv("INFOSPACE_LLM_MODEL", "m")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv(name, url)
    with pytest.raises(Invalid, match=f"^{name} is '.*, which is not an http or https URL") as raised:
        configured()
    assert raised.value.hint == "such as http://localhost:11434/v1"
