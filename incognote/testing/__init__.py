"""Public test doubles: a scripted model, a local server with OpenAI's API, an embedder, and a surrogate index.

They are for our tests and yours: no network, no key, known replies, and misbehavior on demand.
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
    """Import the server when it is first used. Only it needs Starlette and uvicorn."""
    if name != "LocalServer":
        raise AttributeError(name)
    try:
        from incognote.testing.server import LocalServer
    except ModuleNotFoundError:
        raise MissingExtra("service", "a local server") from None
    return LocalServer
