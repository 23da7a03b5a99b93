"""The tamper-evident audit log: who did what and when, in a chain that cannot be mended unseen."""

from incognote.service.audit.entry import Entry, Head
from incognote.service.audit.log import AuditLog
from incognote.service.audit.verify import Fault, Report, entries, verify

__all__ = ["AuditLog", "Entry", "Fault", "Head", "Report", "entries", "verify"]
