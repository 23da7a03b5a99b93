"""Public twins of what is outside: a scripted model, a server on the loopback that speaks OpenAI's API, an embedder, an
index of surrogates.

They are for tests, ours and yours: no network, no key, every reply known beforehand, and misbehaviour on command.
"""

from incognote.testing.asked import text_of
from incognote.testing.embedder import HashingEmbedder
from incognote.testing.memory_index import MemoryIndex
from incognote.testing.misbehave import MISBEHAVIOURS, Misbehaviour
from incognote.testing.recorded import read_replies
from incognote.testing.script import Script
from incognote.testing.scripted import ScriptedLLM
from incognote.testing.server import LocalServer
from incognote.testing.store import BatchPlan
from incognote.testing.trouble import Trouble

__all__ = [
    "MISBEHAVIOURS",
    "BatchPlan",
    "HashingEmbedder",
    "LocalServer",
    "MemoryIndex",
    "Misbehaviour",
    "Script",
    "ScriptedLLM",
    "Trouble",
    "read_replies",
    "text_of",
]
