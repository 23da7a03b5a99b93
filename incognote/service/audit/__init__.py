"""The tamper-evident audit log: who did what and when, in a chain that cannot be altered unnoticed."""

from incognote.service.audit.entry import AuditEntry, ChainHead
from incognote.service.audit.log import AuditLog
from incognote.service.audit.verify import ChainFault, ChainReport, entries, verify

__all__ = ["AuditEntry", "AuditLog", "ChainFault", "ChainHead", "ChainReport", "entries", "verify"]
