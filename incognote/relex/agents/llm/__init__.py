"""The four agents played by a language model, each with the embedded one to stand in where the policy consents."""

from __future__ import annotations

from incognote.relex.agents.llm.asking import ModelAsker
from incognote.relex.agents.llm.clustering import LlmClusterer
from incognote.relex.agents.llm.replacing import LlmReplacer
from incognote.relex.agents.llm.retrieving import LlmQuerier, LlmValidator

__all__ = ["LlmClusterer", "LlmQuerier", "LlmReplacer", "LlmValidator", "ModelAsker"]
