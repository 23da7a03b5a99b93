"""Memory and time of a large HL7 v2 batch file, read and rebuilt one message at a time.

    python benchmarks/scripts/hl7_batch.py --out docs/measured/hl7_batch.json [--mb 500]

The messages are synthetic. In each, the structured fields are replaced by the operators of the policy `strict`. The
texts are not scanned, since the rules would take hours for 500 MB. `incognote deid` with the rules detector, which also
reads each output again, runs on a batch of 2,000 messages instead. Each measurement has a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

SURNAMES = ("Okonkwo", "Brackwater", "Larkmoor", "Tanaka", "Wieczorek", "Nakamura", "Haverstock", "Quill")
GIVEN = ("Nia", "Jon", "Ada", "Emily", "Kofi", "Mara", "Luis")
TEXT = (
    "Mrs. {surname} was seen by Dr. {doctor} on 03/{day:02d}/2025.",
    "Chest pain since two days, no dyspnea. Blood pressure 132/84.",
    "Her daughter {given} drove her home and asks for a call at 617-555-01{day:02d}.",
    3 * "Lungs clear, heart sounds normal, no edema. Creatinine 1.1 mg/dl, potassium 4.2 mmol/l, hemoglobin 12.9 g/dl. "
    "ECG shows sinus rhythm without ST changes. Chest film: no infiltrate, no effusion, heart of normal size. ",
    3 * "Apixaban was continued at 5 mg twice a day. Metoprolol was raised to 50 mg, and furosemide was stopped. The "
    "patient was told to weigh herself each morning, and to come back at once with chest pain, fever, or shortness of "
    "breath. ",
)
RULED = 2000
SAMPLES = 4


def message(n: int) -> bytes:
    """Return the nth message: a report with a heart rate and a text of five lines."""
    surname, doctor, given, day = SURNAMES[n % 8], SURNAMES[n // 8 % 8], GIVEN[n % 7], n % 28 + 1
    at = f"202503{day:02d}{n % 24:02d}{n % 60:02d}"
    segments = [
        f"MSH|^~\\&|ADT|GENHOSP|LAB|NORTHLAB|{at}||ORU^R01^ORU_R01|M{n:08d}|P|2.5.1",
        f"PID|1||{n % 90000:08d}^^^GENHOSP^MR||{surname}^{given}||19{n % 90 + 10}0314|F|||{n % 900 + 1} Mill Rd^^Salem"
        f"^MA^01970||617-555-0{n % 900 + 100}",
        f"PV1|1|O|ONC^12^B||||{n % 5000:05d}^{doctor}^Ada|||||||||||V{n:08d}",
        f"OBR|1||{n:08d}^LAB|11506-3^Progress note^LN|||{at}",
        "OBX|1|NM|8867-4^Heart rate^LN||72|/min",
        *(
            f"OBX|{k}|TX|11506-3^Progress note^LN||{line.format(surname=surname, doctor=doctor, given=given, day=day)}"
            for k, line in enumerate(TEXT, 2)
        ),
    ]
    return "\r".join([*segments, ""]).encode()


def made(path: Path, size: int, most: int = sys.maxsize) -> int:
    """Write a batch file of a size. Return the number of its messages."""
    count = 0
    with path.open("wb") as out:
        out.write(b"FHS|^~\\&|LAB\rBHS|^~\\&|LAB\r")
        while out.tell() < size and count < most:
            out.write(message(count))
            count += 1
        out.write(f"BTS|{count}\rFTS|1\r".encode())
    return count


def resident() -> float:
    """Return the resident memory of this process in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def streamed(source: Path, target: Path) -> dict[str, Any]:
    """Read a batch, replace its structured fields, and write its messages."""
    from incognote.agents.stages import Opened
    from incognote.agents.steps import fields
    from incognote.files.inputs import read
    from incognote.files.sources import find
    from incognote.formats.base import FieldEdit, texts_of
    from incognote.keys import Keyring
    from incognote.schemas.policy import load_policy
    from incognote.schemas.registry import Registry

    registry, policy, keyring = Registry(), load_policy("strict"), Keyring.ephemeral()
    size, count, replaced, memory = source.stat().st_size, 0, 0, []
    before = resident()
    with target.open("wb") as out:
        for one in read(find([str(source)]).files[0]):
            assert one.document is not None, one.error
            document = one.document.under(registry, None)
            opened = Opened(document, texts_of(document), document.patient, one.format)
            values = fields(opened, (), policy, keyring, "default").values
            document.rebuild([FieldEdit(action, value) for action, value in values.items()], out)
            out.write(document.after)
            count, replaced = count + 1, replaced + len(values)
            if one.offset >= size * (len(memory) + 1) / SAMPLES and len(memory) < SAMPLES - 1:
                memory.append(round(resident()))
    memory.append(round(resident()))
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "mb": round(size / 1e6), "messages": count, "fields_replaced": replaced, "rss_mb_at_start": round(before),
        "rss_mb_by_quarter": memory, "peak_mb": round(used.ru_maxrss * 1024 / 1e6),
        "cpu_s": round(used.ru_utime + used.ru_stime),
        "cpu_ms_per_message": round(1000 * (used.ru_utime + used.ru_stime) / count, 2),
    }  # fmt: skip


def ruled(folder: Path) -> dict[str, Any]:
    """Run `incognote deid` with rules on a small batch."""
    source, out = folder / "small.hl7", folder / "released"
    count = made(source, sys.maxsize, RULED)
    command = [sys.executable, "-m", "incognote", "deid", str(source), "--out", str(out), "--detectors", "rules"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)  # noqa: S603 -- our own program
    _, status, used = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(status) in (0, 3)
    told = json.loads((out / "manifest.json").read_text())
    cpu = used.ru_utime + used.ru_stime
    return {
        "messages": count, "released": told["released"], "review": told["review"], "quarantined": told["quarantined"],
        "cpu_ms_per_message": round(1000 * cpu / count, 1), "peak_mb": round(used.ru_maxrss * 1024 / 1e6),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=int, default=500)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--streamed", nargs=2, type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.streamed:
        print(json.dumps(streamed(*asked.streamed)))  # noqa: T201 -- the parent reads it
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        source = folder / "batch.hl7"
        count = made(source, asked.mb * 1_000_000)
        command = [sys.executable, __file__, "--streamed", str(source), str(folder / "out.hl7")]
        done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 -- this file
        fields = json.loads(done.stdout)
        assert fields["messages"] == count
        figures = {
            "about": "synthetic messages; 2 shared cores, one process; texts were scanned only in `with_rules`",
            "fields_only": fields, "with_rules": ruled(folder),
        }  # fmt: skip
    if asked.out:
        asked.out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(figures, indent=1))  # noqa: T201 -- a script's output


if __name__ == "__main__":
    main()
