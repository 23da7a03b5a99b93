"""Score what is left of burned-in text in DICOM pixels: `python -m incognote_benchmarks.dicom_pixels --out FILE`.

The instances are those of `dicom_burned`. A box is removed if at least 98 % of its pixels in the output have one value,
and kept if they are those of the input. Instances that are not released count as not removed and not kept, and are left
out in `released`. With `--peer PYTHON`, Presidio's image redactor runs on a sample in the environment of that Python.
Intervals are Wilson's over boxes. dciodvfy (dicom3tools) counts the errors of each input and output, if it is there.
"""

from __future__ import annotations

import argparse
import io
import json
import resource
import shutil
import subprocess
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from pydicom import Dataset, dcmread

from incognote import Deidentifier
from incognote.evaluation.intervals import share
from incognote_benchmarks.dicom import errors
from incognote_benchmarks.dicom_burned import BurnedInstance, BurnedText, burned

_GONE, _KEPT = 0.98, 0.99  # the share of the pixels of a box
_NEAR = 24  # pixels around text in which a cover is no surprise
_WORKER = Path(__file__).with_name("dicom_presidio.py")


@dataclass
class PixelScore:
    """What is true of all instances together.

    Attributes:
        right, all: identifiers removed and technical words kept, by `removed`, `kept`, and these with a modality, a
            style, a transfer syntax, or `single frame` and `many frames`, and the same for released instances.
        faulty: instances whose pixels outside of covers differ. lost: the share of each picture, far from text, that
            is covered. missed: identifiers that are left, by instance.
    """

    right: Counter[str] = field(default_factory=Counter)
    all: Counter[str] = field(default_factory=Counter)
    held: int = 0
    faulty: list[str] = field(default_factory=list)
    lost: list[float] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    def add(self, instance: BurnedInstance, output: bytes | None) -> None:
        """Judge an output, or None if the instance was not released."""
        before = _pixels(dcmread(io.BytesIO(instance.data)))
        after = None
        if output is not None and "PixelData" in (made := dcmread(io.BytesIO(output))):
            after = _pixels(made)
        if after is None or after.shape != before.shape:
            self.held += 1
            after = None
        else:
            self._judge_rest(instance, before, after)
        names = [each.box for each in instance.texts if each.kind == "identifier"]
        for text in instance.texts:
            if text.kind == "technical" and any(_touch(text.box, box) for box in names):
                continue
            right = after is not None and _is_right(text, before, after)
            if text.kind == "identifier" and not right:
                self.missed.append(f"{instance.name} {text.style}" + (" one frame" if text.frame is not None else ""))
            frames = "many frames" if instance.frames > 1 else "single frame"
            verb = "removed" if text.kind == "identifier" else "kept"
            kinds = [verb, f"{verb}: {instance.modality}", f"{verb}: {text.style}", f"{verb}: {frames}",
                     f"{verb}: {instance.syntax}"]  # fmt: skip
            kinds += [f"{verb}: in one frame of many"] if text.frame is not None else []
            kinds += [f"{verb} in released instances"] if after is not None else []
            self.all.update(kinds)
            self.right.update(kinds if right else ())

    def _judge_rest(self, instance: BurnedInstance, before: Any, after: Any) -> None:
        changed = (before != after).any(axis=-1)
        values = np.unique(after[changed].reshape(-1, after.shape[-1]), axis=0)
        if len(values) > 1:
            self.faulty.append(instance.name)
        far = np.ones(changed.shape[1:], bool)
        for text in instance.texts:
            left, top, right, bottom = text.box
            far[max(0, top - _NEAR) : bottom + _NEAR, max(0, left - 4 * _NEAR) : right + _NEAR] = False
        self.lost.append(float((changed & far).mean()))

    def figures(self) -> dict[str, Any]:
        """Return counts, shares, and intervals."""
        return {
            "held": self.held,
            "boxes": {name: {"right": self.right[name], **share(self.right[name], count).as_dict()}
                      for name, count in sorted(self.all.items())},
            "instances with other pixels outside of covers": len(self.faulty),
            "share of pictures covered far from text": round(float(np.mean(self.lost)), 5) if self.lost else None,
            "left": dict(Counter(self.missed).most_common()),
        }  # fmt: skip


def _pixels(found: Dataset) -> Any:
    """Return the pixels of an instance: frames, rows, columns, samples."""
    pixels = found.pixel_array
    samples = int(found.SamplesPerPixel)
    return pixels.reshape(-1, int(found.Rows), int(found.Columns), samples)


def _touch(one: Sequence[int], two: Sequence[int]) -> bool:
    return one[0] < two[2] and two[0] < one[2] and one[1] < two[3] and two[1] < one[3]


def _is_right(text: BurnedText, before: Any, after: Any) -> bool:
    left, top, right, bottom = text.box
    frames = slice(None) if text.frame is None else slice(text.frame, text.frame + 1)
    old, new = (each[frames, top:bottom, left:right] for each in (before, after))
    if text.kind == "technical":
        return bool((old == new).mean() >= _KEPT)
    flat = new.reshape(-1, new.shape[-1])
    values, counts = np.unique(flat, axis=0, return_counts=True)
    changed = bool((old != new).any()) or len(values) == 1
    return changed and bool(counts.max() >= _GONE * len(flat))


def measured(count: int, seed: int) -> dict[str, Any]:
    """De-identify the instances and return the figures."""
    score, spent, reasons = PixelScore(), {1: 0.0, 2: 0.0}, Counter[str]()
    made, checked = Counter[int](), {"input": 0, "output": 0, "outputs with another": 0}
    with tempfile.TemporaryDirectory() as folder, Deidentifier("strict") as deid:
        deid.deidentify("warm up")
        for instance in burned(count, seed):
            began = time.perf_counter()
            result = deid.deidentify(instance.data, media_type="application/dicom")
            many = 2 if instance.frames > 1 else 1
            spent[many] += time.perf_counter() - began
            made[many] += 1
            output = result.data if result.verdict.released else None
            reasons.update(f"{reason.code} {reason.field} {reason.detail}" for reason in result.verdict.reasons)
            score.add(instance, output)
            if output is not None and shutil.which("dciodvfy"):
                found = {}
                for name, data in (("input", instance.data), ("output", output)):
                    Path(folder, name).write_bytes(data)
                    found[name] = errors(Path(folder, name))
                    checked[name] += len(found[name])
                checked["outputs with another"] += bool(set(found["output"]) - set(found["input"]))
    return {
        "seed": seed, "instances": count, "reasons": dict(reasons.most_common()), **score.figures(),
        "dciodvfy errors": checked,
        "seconds an instance": {
            "single frame": round(spent[1] / max(1, made[1]), 2), "many frames": round(spent[2] / max(1, made[2]), 2),
        },
        "peak memory, MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }  # fmt: skip


def of_peer(python: str, count: int, seed: int) -> dict[str, Any]:
    """Return the figures of Presidio's image redactor and of ours on the same sample.

    Args:
        python: of an environment with presidio-image-redactor.
    """
    sample = list(burned(count, seed))
    peer, ours = PixelScore(), PixelScore()
    with tempfile.TemporaryDirectory() as folder, Deidentifier("strict") as deid:
        for at, instance in enumerate(sample):
            Path(folder, f"{at}.dcm").write_bytes(instance.data)
        began = time.perf_counter()
        run = subprocess.run([python, str(_WORKER), folder], check=True, capture_output=True)  # noqa: S603 -- the caller's Python
        theirs = time.perf_counter() - began
        for at, instance in enumerate(sample):
            path = Path(folder, f"{at}.out")
            peer.add(instance, path.read_bytes() if path.exists() else None)
        began = time.perf_counter()
        results = [deid.deidentify(each.data, media_type="application/dicom") for each in sample]
        spent = time.perf_counter() - began
        for instance, result in zip(sample, results, strict=True):
            ours.add(instance, result.data if result.verdict.released else None)
    chosen = ("removed", "kept", "removed in released instances")
    told = {}
    for name, score, seconds in (("presidio", peer, theirs), ("incognote", ours, spent)):
        figures = score.figures()
        told[name] = {"held or failed": score.held, "seconds an instance": round(seconds / count, 2),
                      **{each: figures["boxes"].get(each) for each in chosen}}  # fmt: skip
    return {"instances": count, "version": run.stdout.decode().strip().splitlines()[-1], **told}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=80)
    parser.add_argument("--seed", type=int, default=23)
    parser.add_argument("--peer", help="the Python of an environment with presidio-image-redactor")
    parser.add_argument("--peer-count", type=int, default=16)
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    asked = parser.parse_args()
    warnings.filterwarnings("ignore", module="pydicom")
    result = measured(asked.count, asked.seed)
    print(json.dumps(result, indent=1, ensure_ascii=False))  # noqa: T201 -- a program that prints
    if asked.peer:
        result["beside Presidio"] = of_peer(asked.peer, asked.peer_count, asked.seed)
    if asked.out:
        asked.out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
