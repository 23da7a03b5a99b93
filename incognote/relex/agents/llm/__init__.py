"""The four agents played by a language model, each with the embedded one to stand in where the policy consents."""

from __future__ import annotations

from incognote.relex.agents.llm.asking import Asker
from incognote.relex.agents.llm.clustering import LlmClusterer
from incognote.relex.agents.llm.deciding import LlmValidator
from incognote.relex.agents.llm.querying import LlmQuerier
from incognote.relex.agents.llm.replacing import LlmReplacer

__all__ = ["Asker", "LlmClusterer", "LlmQuerier", "LlmReplacer", "LlmValidator"]
