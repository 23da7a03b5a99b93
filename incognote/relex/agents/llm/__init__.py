"""The four agents as language model agents. If the policy allows it, the embedded agent is the fallback of each."""

from __future__ import annotations

from incognote.relex.agents.llm.asking import ModelAsker
from incognote.relex.agents.llm.clustering import LlmClusterer
from incognote.relex.agents.llm.doubting import DoubtfulClusterer
from incognote.relex.agents.llm.replacing import LlmReplacer
from incognote.relex.agents.llm.retrieving import LlmQuerier, LlmValidator

__all__ = ["DoubtfulClusterer", "LlmClusterer", "LlmQuerier", "LlmReplacer", "LlmValidator", "ModelAsker"]
