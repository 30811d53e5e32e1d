"""Which language model is asked, said by the environment.

| variable | meaning |
|---|---|
| INFOSPACE_LLM_MODEL | the model's name, as its endpoint calls it; without it none is configured |
| INFOSPACE_LLM_URL | the endpoint, such as `http://localhost:11434/v1`; else OPENAI_BASE_URL, else OpenAI's own |
| INFOSPACE_LLM_PLAN_MODEL | the model that writes plans, where it is another one at the same endpoint |
| INFOSPACE_LLM_API | `openai` or `anthropic`: what the endpoint speaks; else told by its URL, or by a model `claude…` |
| INFOSPACE_LLM_KEY | the endpoint's key, where it wants one |
| INFOSPACE_LLM_TIMEOUT | seconds to wait for the next part of an answer (120) |
| INFOSPACE_LLM_RETRIES | how often a call is repeated that found the endpoint busy, failing or silent (2) |
| INFOSPACE_LLM_CONTEXT | the most tokens (characters / 4) that the messages of one call may have (100,000) |

OPENAI_API_KEY, or ANTHROPIC_API_KEY, is used where INFOSPACE_LLM_URL is not given; so a vendor's key never goes to
another endpoint unless OPENAI_BASE_URL or ANTHROPIC_BASE_URL, which belongs to it, says so.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from math import inf
from typing import Literal, TypeAlias, TypeVar
from urllib.parse import urlsplit

from infospace.core.errors import Invalid, NotConfigured
from infospace.core.installation import install_hint
from infospace.core.redaction import secrets_in, shown_url

NumberT = TypeVar("NumberT", int, float)

Api: TypeAlias = Literal["openai", "anthropic"]

OPENAI = "https://api.openai.com/v1"
ANTHROPIC = "https://api.anthropic.com"
EXAMPLE = "http://localhost:11434/v1"
NO_KEY = "none"
"""Sent to an endpoint that wants no key."""

TIMEOUT, RETRIES, CONTEXT = 120.0, 2, 100_000


@dataclass(frozen=True, slots=True)
class Settings:
    """How to reach a model. `timeout` in seconds, `context` in tokens."""

    model: str
    url: str
    key: str = field(default=NO_KEY, repr=False)
    timeout: float = TIMEOUT
    retries: int = RETRIES
    context: int = CONTEXT
    api: Api = "openai"

    @property
    def secrets(self) -> tuple[str, ...]:
        """What nobody is to read: the key, and what is secret in the URL."""
        return (*([self.key] if self.key != NO_KEY else []), *secrets_in(self.url))


def configured() -> Settings:
    """Return what the environment says.

    Raises NotConfigured where it names no model or no way to one, Invalid where a number, a URL or a name is none.
    """
    model, own = _env("INFOSPACE_LLM_MODEL"), _env("INFOSPACE_LLM_URL")
    _must_be_url("INFOSPACE_LLM_URL", own)
    api = _api(model, own)
    vendor = api.upper()
    url = own or _env(f"{vendor}_BASE_URL")
    _must_be_url("INFOSPACE_LLM_URL" if own else f"{vendor}_BASE_URL", url)
    key = _env("INFOSPACE_LLM_KEY") or ("" if own else _env(f"{vendor}_API_KEY"))
    missing = [
        *(["INFOSPACE_LLM_MODEL"] if not model else []),
        *([f"INFOSPACE_LLM_URL (or {vendor}_API_KEY)"] if not url and not key else []),
    ]
    if missing:
        raise NotConfigured(
            f"no language model is configured: set {' and '.join(missing)}",
            hint="the URL of any OpenAI-compatible endpoint, such as http://localhost:11434/v1,"
            " and INFOSPACE_LLM_KEY where it wants a key",
        )
    return Settings(
        model,
        url or (OPENAI if api == "openai" else ANTHROPIC),
        key or NO_KEY,
        _number("INFOSPACE_LLM_TIMEOUT", float, TIMEOUT, above=0),
        _number("INFOSPACE_LLM_RETRIES", int, RETRIES, above=-1),
        _number("INFOSPACE_LLM_CONTEXT", int, CONTEXT, above=0),
        api,
    )


def plan_model() -> str | None:
    """Return the model that writes plans, None where it is the model of all other steps."""
    return _env("INFOSPACE_LLM_PLAN_MODEL") or None


def installed(api: Api = "openai") -> None:
    """Raise NotConfigured where the client is not installed."""
    if find_spec(api) is None:
        raise NotConfigured(
            "the client of language models is not installed",
            hint=install_hint("llm" if api == "openai" else "anthropic"),
        )


def _api(model: str, url: str) -> Api:
    text = _env("INFOSPACE_LLM_API")
    if text not in ("", "openai", "anthropic"):
        raise Invalid(f"INFOSPACE_LLM_API is {text!r}", hint="openai or anthropic")
    if text:
        return "openai" if text == "openai" else "anthropic"
    if url:
        host = urlsplit(url).hostname or ""
        return "anthropic" if host == "anthropic.com" or host.endswith(".anthropic.com") else "openai"
    is_named = model.startswith("claude") and not _env("OPENAI_BASE_URL")
    return "anthropic" if is_named else "openai"


def _must_be_url(name: str, url: str) -> None:
    """Raise Invalid for an endpoint that no request could ever reach, which would else be tried again and again."""
    if not url:
        return
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fits = False
    if not fits or any(character.isspace() for character in url):
        raise Invalid(
            f"{name} is {shown_url(url)!r:.200}, which is not an http or https URL", hint=f"such as {EXAMPLE}"
        )


def _env(name: str) -> str:
    return os.environ.get(name, "").strip()


def _number(name: str, read: Callable[[str], NumberT], default: NumberT, *, above: float) -> NumberT:
    text = _env(name)
    if not text:
        return default
    try:
        value = read(text)
    except ValueError:
        value = read("-1")
    if not above < value < inf:
        raise Invalid(f"{name} is {text!r}", hint=f"a number above {above}; without it {default:,}")
    return value
