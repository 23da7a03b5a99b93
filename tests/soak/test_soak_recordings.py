"""Workers that are killed while they hear recordings: there is exactly one muted file for each.

Full size: 1,000 recordings of two seconds and four workers, each killed 10 times. Ten recordings and four kills run
with the other tests.
"""

from __future__ import annotations

import io
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pocketsphinx", reason="needs the extra audio")
pytest.importorskip("soundfile", reason="needs the extra audio")

import soundfile

from incognote.ledger import Ledger
from incognote_benchmarks.postgres import LocalPostgres

from ..speech import spoken  # noqa: TID252 -- tests are not a package, so absolute imports cannot reach them
from .test_soak_worker import WORKERS, Nursery, Soak, nursery  # noqa: F401 -- the fixture

WORDS = "doctor smith saw him again."


class Recordings(Soak):
    """Recordings of which no two have the same length."""

    def fill(self, records: int) -> None:
        (self.root / "source").mkdir()
        said = spoken.say(WORDS, "slt")
        for number in range(records):
            samples = np.concatenate((said, np.zeros(number + 1, np.int16)))
            soundfile.write(self.root / "source" / f"{number}.flac", samples, spoken.RATE)
        self.records = records

    def check(self) -> dict[str, Any]:
        """Check for one output per recording, with silence where the name is said."""
        ledger = Ledger(self.ledger, self.keyring)
        release = ledger.release("soak")
        entries = list(ledger.entries(release=release.id))
        told = {shard.name: shard.sha256 for shard in ledger.shards(release.id)}
        ledger.close()
        files = {f"soak/{path.name}": path.read_bytes() for path in (self.root / "destination" / "soak").iterdir()}
        assert {entry.state for entry in entries} == {"released"}
        assert len(entries) == self.records
        assert told == {name: sha256(data).hexdigest() for name, data in files.items()}
        sounds = [soundfile.read(io.BytesIO(data), dtype="int16")[0] for data in files.values()]
        said = spoken.say(WORDS, "slt")
        assert sorted(map(len, sounds)) == [len(said) + number + 1 for number in range(self.records)]
        name = slice(round(0.2 * spoken.RATE), round(0.9 * spoken.RATE))
        assert said[name].any()
        assert not any(sound[name].any() for sound in sounds)
        return {"records": self.records, "outputs": len(sounds), "tries": sum(entry.tries for entry in entries)}


def test_workers_killed_while_they_hear_leave_one_output_per_recording(
    tmp_path: Path, postgres: LocalPostgres, nursery: Nursery, full: bool, figures: dict[str, Any]  # noqa: F811 -- the fixture
) -> None:
    kills = 10 if full else 1
    postgres.empty()
    soak = Recordings(tmp_path, postgres.url)
    soak.fill(1_000 if full else 10)
    seconds = soak.run(nursery, kills, 20.0 if full else 4.0)
    assert soak.deaths == dict.fromkeys(range(WORKERS), kills)
    told = {"workers": WORKERS, "kills": kills * WORKERS, "seconds": round(seconds, 1)}
    figures["recordings_killed"] = {**soak.check(), **told}
