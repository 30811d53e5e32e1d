"""The model that the environment names, behind the client that its endpoint speaks to."""

from __future__ import annotations

from infospace.llm.model import LanguageModel
from infospace.llm.settings import Settings, configured, installed


def connect() -> LanguageModel:
    """Return the model that the environment names. Raises NotConfigured, Invalid."""
    settings = configured()
    installed(settings.api)
    return client_of(settings)


def client_of(settings: Settings) -> LanguageModel:
    """Return the client of an endpoint."""
    if settings.api == "anthropic":
        from infospace.llm.anthropic_client import AnthropicModel

        return AnthropicModel(settings)
    from infospace.llm.openai_client import OpenAICompatibleModel

    return OpenAICompatibleModel(settings)
