"""A worker on messages that were received by MLLP."""

from __future__ import annotations

from incognote.service.mllp import Spool

from .conftest import House


def test_received_messages_are_released_once_and_a_message_without_rules_is_quarantined(house: House) -> None:
    house.source.chmod(0o700)
    spool = Spool(house.source, house.keyring)
    for control in ("M1", "M2", "M1"):
        header = f"MSH|^~\\&|ADT|GENHOSP|||20250309||ADT^A01|{control}|P|2.5"
        spool.store(f"{header}\rPID|1||4711||Carter^Emily\rNTE|1||Seen by Dr. Emily Carter.\r".encode(), control)
    spool.store(b"MSH|^~\\&|||||||ADT^A01|M3|P|2.5\rZPI|1||Carter\r", "M3")
    spool.close()
    for _ in range(2):
        house.run()
    released = [path.read_bytes().decode() for path in house.destination.rglob("*.hl7")]
    assert len(released) == 2
    assert all("NTE|1||Seen by Dr. [PERSON].\r" in message and "Carter" not in message for message in released)
    assert house.ledger.counts(1) == {"released": 2, "quarantined": 1}
