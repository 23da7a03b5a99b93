"""Distill the embedded embedder, and examine it on held-out texts."""

from __future__ import annotations

import argparse
import random
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress

from incognote.embedding.vendors.embedded import EmbeddedEmbedder
from incognote_training.embedder import texts as material
from incognote_training.embedder.examination import by_pairs, by_twins, found
from incognote_training.embedder.export import write
from incognote_training.embedder.student import Course, beginning, embed, projection, teach
from incognote_training.embedder.teacher import Teacher

_STORE = 2_000  # referents in the examination
_PIECES = 3_000


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m incognote_training.embedder", description=__doc__)
    parser.add_argument("--teacher", required=True, metavar="FOLDER", help="all-MiniLM-L6-v2, or a model like it")
    parser.add_argument("--notes", required=True, nargs="+", metavar="FILE", help="lines with text, note or dialogue")
    parser.add_argument("--out", required=True, metavar="FOLDER", type=Path)
    parser.add_argument("--referents", type=int, default=15_000, help="made up for training (default: %(default)s)")
    parser.add_argument("--bags", type=int, default=20_000, help="bags of words (default: %(default)s)")
    for name, kind in (("dimension", int), ("epochs", int), ("rate", float), ("pairs", float), ("seed", int)):
        parser.add_argument(f"--{name}", type=kind, default=getattr(Course(), name), help="default: %(default)s")
    asked = parser.parse_args()
    course = Course(asked.dimension, asked.epochs, rate=asked.rate, pairs=asked.pairs, seed=asked.seed)
    with Progress(console=Console(stderr=True)) as progress:
        facts = distil(asked.teacher, asked.notes, asked.out, asked.referents, asked.bags, course, progress)
    for name, figure in facts.items():
        Console().print(name, figure, highlight=False)


def distil(
    folder: str, notes: list[str], out: Path, referents: int, bags: int, course: Course, progress: Progress
) -> dict[str, Any]:
    """Teach, write to `out`, and return what the examination found."""
    teacher = Teacher(folder)
    chance = random.Random(course.seed)  # noqa: S311  # reproducible material, not a secret
    taught, apart = material.read_notes(notes)
    vocabulary = [word for word, _ in sorted(teacher.backend.get_vocab().items(), key=lambda item: item[1])]
    words = [word for word in vocabulary if word.isalnum()]
    made = material.referents(referents, course.seed)
    lessons = [*material.pieces(taught, chance), *material.strings(made), *material.word_bags(words, bags, chance)]
    alone = teacher.read([word.removeprefix("##") for word in vocabulary], "words alone", progress)
    lesson = teacher.read(lessons, "teacher", progress)
    onto = projection(lesson.vectors, course.dimension)
    begun = beginning(lesson, alone.vectors, onto)
    table = teach(lesson, begun, onto, course, progress)
    pad = int(teacher.backend.token_to_id("[PAD]"))
    size = {"texts": len(lessons), "notes": len(taught), "notes_apart": len(apart), "seed": course.seed}
    write(out, table, teacher.backend, pad, {"taught": size})
    student = EmbeddedEmbedder(out)

    def compare(some: list[str], what: str) -> tuple[Any, Any, Any]:
        read = teacher.read(some, what, progress)
        return student.embed(some), read.vectors, embed(begun, read.ids)

    figures: dict[str, Any] = {}
    whole = compare([note.text for note in apart], "notes kept apart")
    figures["notes"], figures["notes_untaught"] = by_pairs(whole[0], whole[1]), by_pairs(whole[2], whole[1])
    masked = [(number, note.masked) for number, note in enumerate(apart) if note.masked is not None]
    left = compare([text for _, text in masked], "masked notes")
    rows = [number for number, _ in masked]
    figures["masked"] = by_twins((whole[0][rows], left[0]), (whole[1][rows], left[1]))
    some = list(material.pieces(apart, chance))
    few = compare(chance.sample(some, min(_PIECES, len(some))), "pieces kept apart")
    figures["pieces"] = by_pairs(few[0], few[1])
    seen = {tuple(own) for own in lesson.ids}

    def is_new(one: material.Referent) -> bool:
        read = teacher.backend.encode_batch([one.canonical, *one.variants], add_special_tokens=False)
        return seen.isdisjoint(tuple(own.ids) for own in read)

    unseen = {one.canonical: one for one in material.referents(6 * _STORE, course.seed + 1) if is_new(one)}
    new = list(unseen.values())[:_STORE]
    store = compare([one.canonical for one in new], "strings kept apart")
    asked = [(variant, number) for number, one in enumerate(new) for variant in one.variants]
    queries = compare([variant for variant, _ in asked], "their variants")
    truth = [number for _, number in asked]
    figures["strings"], figures["strings_untaught"] = by_pairs(store[0], store[1]), by_pairs(store[2], store[1])
    figures["variants"] = by_twins((store[0][truth], queries[0]), (store[1][truth], queries[1]))
    for most in (1, 10):
        for who, place in (("student", 0), ("teacher", 1)):
            figures[f"found_{most}_{who}"] = found(queries[place], store[place], truth, most)
    write(out, table, teacher.backend, pad, {"taught": size, "examined": figures})
    assert np.allclose(np.linalg.norm(store[0], axis=1), 1, atol=1e-5)
    return figures


if __name__ == "__main__":
    main()
