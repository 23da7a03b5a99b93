"""Public twins of what is outside: a scripted model, and a server on the loopback that speaks OpenAI's API.

They are for tests, ours and yours: no network, no key, every reply known beforehand, and misbehaviour on command.
"""

from incognote.testing.server import LocalServer
from incognote.testing.store import BatchPlan
from incognote.testing.trouble import Trouble

__all__ = ["BatchPlan", "LocalServer", "Trouble"]
