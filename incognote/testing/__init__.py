"""Public twins of what is outside: a scripted model, a server on the loopback that speaks OpenAI's API, an embedder, an
index of surrogates.

They are for tests, ours and yours: no network, no key, every reply known beforehand, and misbehaviour on command.
"""

from typing import TYPE_CHECKING, Any

from incognote.errors import MissingExtra
from incognote.testing.embedder import HashingEmbedder
from incognote.testing.memory_index import MemoryIndex
from incognote.testing.misbehave import MISBEHAVIOURS, Misbehaviour
from incognote.testing.scripted import ScriptedLLM, read_replies
from incognote.testing.store import BatchPlan
from incognote.testing.trouble import Trouble, text_of

if TYPE_CHECKING:
    from incognote.testing.server import LocalServer

__all__ = [
    "MISBEHAVIOURS",
    "BatchPlan",
    "HashingEmbedder",
    "LocalServer",
    "MemoryIndex",
    "Misbehaviour",
    "ScriptedLLM",
    "Trouble",
    "read_replies",
    "text_of",
]


def __getattr__(name: str) -> Any:
    """The server alone needs Starlette and uvicorn, so they are imported when somebody asks for it."""
    if name != "LocalServer":
        raise AttributeError(name)
    try:
        from incognote.testing.server import LocalServer
    except ModuleNotFoundError:
        raise MissingExtra("service", "a local server") from None
    return LocalServer
