"""Count tokens like a current model, if that is possible offline."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from incognote.llm.base import Request

_ENCODINGS = ("o200k_base", "cl100k_base")
_ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"
_A_TOKEN = 4  # characters


@dataclass(frozen=True, slots=True)
class Counter:
    """Counts tokens.

    Args:
        name: the encoding, or the approximation used instead.
    """

    name: str
    _count: Callable[[str], int] = field(repr=False)

    def __call__(self, text: str) -> int:
        return self._count(text)

    def messages(self, requests: Iterable[Request]) -> int:
        """The tokens in all messages, without the few that a vendor's chat format adds to each."""
        return sum(self(message.content) for request in requests for message in request.messages)

    def schemas(self, requests: Iterable[Request]) -> int:
        """The tokens of the reply schemas as JSON. Vendors that show them to the model count about this much more."""
        return sum(self(json.dumps(request.schema, separators=(",", ":"))) for request in requests)


def counter() -> Counter:
    """Count with tiktoken if litellm is installed, which has its tables; otherwise characters / 4. Fetches nothing."""
    for name in _ENCODINGS:
        if (encode := _encoder(name)) is not None:
            return Counter(name, lru_cache(4096)(encode))  # every request has the same instructions
    return Counter(f"characters / {_A_TOKEN}", lambda text: math.ceil(len(text) / _A_TOKEN))


def _encoder(name: str) -> Callable[[str], int] | None:
    found = find_spec("litellm")  # looked up, not imported: that takes seconds
    if found is None or not found.submodule_search_locations or find_spec("tiktoken") is None:
        return None
    folder = Path(found.submodule_search_locations[0]) / "litellm_core_utils" / "tokenizers"
    # tiktoken's cache names a table by the SHA-1 of its address; a missing one would be fetched
    table = folder / hashlib.sha1(_ADDRESS.format(name).encode(), usedforsecurity=False).hexdigest()
    if not table.is_file():
        return None
    import tiktoken

    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    try:
        encoding = tiktoken.get_encoding(name)
    except (OSError, ValueError):  # the table is damaged, and there is no network to replace it
        return None
    finally:
        if before is None:
            del os.environ["TIKTOKEN_CACHE_DIR"]
        else:
            os.environ["TIKTOKEN_CACHE_DIR"] = before
    return lambda text: len(encoding.encode(text, disallowed_special=()))
