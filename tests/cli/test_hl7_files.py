"""Files with several HL7 v2 messages on the command line."""

from __future__ import annotations

from pathlib import Path

from .conftest import Run


def test_the_released_messages_of_a_file_keep_their_line_ends_and_the_byte_order_mark(run: Run, tmp_path: Path) -> None:
    head, source, target = "MSH|^~\\&||||||||M{}|P|2.5\r", tmp_path / "a.hl7", tmp_path / "out.hl7"
    texts = (head + "NTE|1||Seen by Dr. Emily Carter.\r", head + "ZPI|1||Carter\r", head + "NTE|1||No pain.\r\r\n")
    source.write_bytes("".join(["\ufeff", *texts]).format(1, 2, 3).encode())
    assert run("deid", source, "--out", target, "--quarantine", tmp_path / "held", "--detectors", "rules").code == 3
    lines = target.read_bytes().decode().split("\r")
    assert lines[0].startswith("\ufeffMSH|^~\\&||||||||")
    assert lines[1] == "NTE|1||Seen by Dr. [PERSON]."
    assert lines[2].startswith("MSH|^~\\&||||||||")
    assert lines[3:] == ["NTE|1||No pain.", "", "\n"]
