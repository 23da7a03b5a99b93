"""Score the headers of synthetic DICOM studies by action: `python -m incognote_benchmarks.dicom --out FILE`.

Each planted element of `dicom_studies` has the action that it needs, in the manner of the MIDI-B challenge. An action
is right if pydicom finds in the output what it asks for. The actions of instances that are not released count as wrong,
and are left out in `released`.
Intervals are Wilson's over actions. dciodvfy (dicom3tools) counts the errors of each input and output, if it is there.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import shutil
import subprocess
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import pypdfium2
from pydicom import Dataset, dcmread
from pydicom.dataelem import DataElement
from pydicom.uid import UID

from incognote import Deidentifier
from incognote.evaluation.intervals import share
from incognote_benchmarks.dicom_studies import Action, Instance, instances

POLICY = """
name = "dicom-benchmark"
extends = "strict"
label = "none"
[types.DATE]
operator = "date-shift"
[types.AGE]
operator = "generalize"
mode = "safe-harbor"
"""
_STEP = re.compile(r"(?:meta:)?([^\[\].]+)(?:\[(\d+)\])?")
_OLDEST = "090Y"


@dataclass
class Score:
    """What is true of all instances together.

    Attributes:
        held: instances that are not released. unjudged: their actions.
        right, all: actions by kind. faults: wrong actions of released instances by kind, modality and path.
        mapped: the new value of each UID and patient id. shifts: the offsets of a patient's dates, in days.
    """

    held: int = 0
    unjudged: int = 0
    right: Counter[str] = field(default_factory=Counter)
    all: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    mapped: dict[str, str] = field(default_factory=dict)
    shifts: dict[str, int] = field(default_factory=dict)

    def add(self, instance: Instance, before: Dataset, after: Dataset | None) -> None:
        """Judge the actions of an instance. `after` is None if it was not released."""
        self.all.update(action.kind for action in instance.actions)
        if after is None:
            self.held += 1
            self.unjudged += len(instance.actions)
            return
        for action in instance.actions:
            if self._is_right(instance, action, before, after):
                self.right[action.kind] += 1
            else:
                self.faults[f"{action.kind}: {instance.modality} {action.path}"] += 1

    def _is_right(self, instance: Instance, action: Action, before: Dataset, after: Dataset) -> bool:
        old, new = element(before, action.path), element(after, action.path)
        words = shown(after, action.path, new)
        match action.kind:
            case "tag removed":
                return new is None or new.is_empty
            case "tag kept":
                return old is not None and new is not None and old.value == new.value
            case "pixels kept":
                return old is not None and new is not None and old.value == new.value and old.VR == new.VR
            case "text kept":
                return action.value in words
            case "text removed":
                return _folded(action.value) not in _folded(words)
            case "value replaced":
                return _folded(action.value) not in _folded(words)
            case "age limited":
                return words == _OLDEST
            case "uid changed":
                return UID(words).is_valid and self._is_consistent(action.value, words)
            case "id changed":
                return bool(words) and self._is_consistent(action.value, words)
            case "date shifted":
                return self._is_shifted(instance.patient, action.value, words)

    def _is_consistent(self, old: str, new: str) -> bool:
        return old != new and self.mapped.setdefault(old, new) == new

    def _is_shifted(self, patient: str, old: str, new: str) -> bool:
        try:
            days = (date.fromisoformat(new[:8]) - date.fromisoformat(old[:8])).days
        except ValueError:
            return False
        return days != 0 and old[8:] == new[8:] and self.shifts.setdefault(patient, days) == days

    def figures(self) -> dict[str, Any]:
        """Return counts, shares and intervals by kind and for all actions."""
        table = {kind: (self.right[kind], count) for kind, count in sorted(self.all.items())}
        table["all"] = (sum(self.right.values()), sum(self.all.values()))
        table["released"] = (table["all"][0], table["all"][1] - self.unjudged)
        shares = {kind: {"right": right, **share(right, count).as_dict()} for kind, (right, count) in table.items()}
        distinct = len(set(self.mapped.values())) == len(self.mapped)
        return {"actions": shares, "different values stay different": distinct}


def element(found: Dataset, path: str) -> DataElement | None:
    """Return the element at a path, or None."""
    at: Any = found.file_meta if path.startswith("meta:") else found
    if path == "*":
        return None
    for step in path.split("."):
        match = _STEP.fullmatch(step)
        assert match is not None
        name: Any = int(match[1].strip("()").replace(",", ""), 16) if match[1].startswith("(") else match[1]
        if name not in at:
            return None
        one: DataElement = at[name]
        if match[2] is None:
            return one
        if int(match[2]) > len(one.value):
            return None
        at = one.value[int(match[2]) - 1]
    return None


def shown(found: Dataset, path: str, one: DataElement | None) -> str:
    """Return the words of an element: of a PDF its text, and for "*" all strings of the data set."""
    if path == "*":
        return "\n".join(_strings(found))
    if path == "EncapsulatedDocument" and one is not None:
        document = pypdfium2.PdfDocument(one.value)
        return "\n".join(page.get_textpage().get_text_bounded() for page in document)
    return "" if one is None or one.value is None else str(one.value)


def _strings(found: Dataset) -> Iterator[str]:
    for each in found.iterall():
        if each.VR != "SQ" and each.keyword not in ("PixelData", "EncapsulatedDocument"):
            value = each.value
            yield value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _folded(words: str) -> str:
    return " ".join(re.sub(r"[\^=]", " ", words).split()).casefold()


def errors(path: Path) -> list[str]:
    """Return the errors that dciodvfy finds in a file."""
    run = subprocess.run(["dciodvfy", str(path)], capture_output=True, check=False)  # noqa: S603, S607 -- on our own files
    return [line for line in (run.stderr + run.stdout).decode("latin-1").splitlines() if line.startswith("Error")]


def measured(patients: int, each: int, seed: int) -> dict[str, Any]:
    """De-identify the studies and return the figures."""
    score, reasons, spent = Score(), Counter[str](), 0.0
    counted = {"input": 0, "output": 0, "outputs with more": 0, "outputs with another": 0}
    modalities = Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        policy = Path(folder, "policy.toml")
        policy.write_text(POLICY, encoding="utf-8")
        with Deidentifier(str(policy)) as deid:
            deid.deidentify("warm up")
            for instance in instances(patients, each, seed):
                modalities[instance.modality] += 1
                began = time.perf_counter()
                result = deid.deidentify(instance.data, media_type="application/dicom")
                spent += time.perf_counter() - began
                output = result.data if result.verdict.released else None
                for reason in result.verdict.reasons:
                    reasons[f"{instance.modality}: {reason.code} {reason.field} {reason.detail}"] += 1
                before = dcmread(io.BytesIO(instance.data))
                score.add(instance, before, dcmread(io.BytesIO(output)) if output is not None else None)
                if output is not None and shutil.which("dciodvfy"):
                    files = {"input": instance.data, "output": output}
                    found = {}
                    for name, data in files.items():
                        Path(folder, name).write_bytes(data)
                        found[name] = errors(Path(folder, name))
                        counted[name] += len(found[name])
                    counted["outputs with more"] += len(found["output"]) > len(found["input"])
                    counted["outputs with another"] += bool(set(found["output"]) - set(found["input"]))
    total = sum(modalities.values())
    return {
        "seed": seed, "instances": total, "by modality": dict(modalities),
        "held": score.held, "reasons": dict(reasons.most_common()),
        **score.figures(), "faults": dict(score.faults.most_common(40)),
        "dciodvfy errors": counted,
        "seconds an instance": round(spent / total, 3),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--patients", type=int, default=12)
    parser.add_argument("--each", type=int, default=3, help="instances of a patient in each modality")
    parser.add_argument("--seed", type=int, default=23)
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    asked = parser.parse_args()
    warnings.filterwarnings("ignore", module="pydicom")  # wrong values are planted on purpose
    result = measured(asked.patients, asked.each, asked.seed)
    print(json.dumps(result, indent=1, ensure_ascii=False))  # noqa: T201 -- a program that prints
    if asked.out:
        asked.out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
