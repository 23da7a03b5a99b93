"""`incognote reveal --image` and `index forget --image`: what was removed from an image, for holders of the key."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from incognote.formats.images import reading
from incognote.pages.nouns import Region, Word
from incognote.service.audit.verify import entries
from incognote.service.reveals import open_reveals
from incognote.settings import Settings, home

Run = Callable[..., Any]
SEEN = ("Seen", "by", "Dr.", "Emily", "Carter", "today.")
POLICY = 'name = "ours"\nextends = "strict"\n[types.BARCODE]\noperator = "label"\n[pages]\nvault = "pixels"\n'
WHY = ("--why", "wrong patient on a form")


def draw(path: Path, shade: int = 0) -> None:
    pixels = np.full((200, 600), 255, np.uint8)
    pixels[102:118, 62:138] = shade
    Image.fromarray(pixels).save(path)


def numbers(out: Path) -> dict[str, str]:
    """The numbers in the manifest of a run, by the name of the output."""
    outputs = json.loads((out / "manifest.json").read_text())["outputs"]
    return {one["name"]: one["image"] for one in outputs if "image" in one}


@pytest.fixture
def scanned(index: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """De-identify an image of a patient under a policy with a vault. Return the option with its number."""
    words = tuple(Word(each, (20 + 70 * n, 20, 80 + 70 * n, 38), 0.95) for n, each in enumerate(SEEN))
    code = Region("QR_Bar_Code", (60, 100, 140, 120), 0.9, ("barcode",))
    found = reading.PageReading(words, words, (code,), (), 0.95)
    monkeypatch.setattr(reading, "reading_of", lambda pixels, dpi: found)
    monkeypatch.setenv("INCOGNOTE_POLICY", str(tmp_path / "ours.toml"))
    (tmp_path / "ours.toml").write_text(POLICY)
    (tmp_path / "who").write_text("subject-7731\n")
    (tmp_path / "other").write_text("subject-12\n")

    def call(shade: int = 0, who: str = "who") -> list[str]:
        from incognote import Deidentifier

        draw(tmp_path / "form.png", shade)
        patient = (tmp_path / who).read_text().strip()
        with Deidentifier(detectors=("rules",)) as deid:
            result = deid.deidentify(tmp_path / "form.png", patient=patient)
        assert result.verdict.released, result.verdict
        return ["--image", str(result.image)]

    return call


def test_reveal_lists_what_was_removed_and_writes_the_request_first(
    scanned: Callable[..., list[str]], run: Run, tmp_path: Path
) -> None:
    log = tmp_path / "asked.jsonl"
    image = scanned()
    done = run("reveal", *image, *WHY, "--audit", log)
    assert done.code == 0, done.err
    assert [word in done.out for word in ("CLINICIAN", "Emily Carter", "BARCODE", "page")] == [True] * 4
    told = run("reveal", *image, *WHY, "--audit", log, "--json").data
    clinician, code = told["parts"]
    assert (told["image"], clinician["words"], code["words"]) == (image[1], "Emily Carter", "")
    assert code["boxes"][0].keys() == {"page", "x0", "y0", "x1", "y1"}
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(one["asked"], one["shown"]) for one in lines] == [({"image": image[1]}, True)] * 2
    assert lines[0]["why"] == "wrong patient on a form"
    assert "Carter" not in log.read_text()
    unwritable = run("reveal", *image, *WHY, "--audit", tmp_path)
    assert (unwritable.code, unwritable.out) == (2, "")


def test_reveal_writes_the_pixels_into_a_new_folder_that_only_its_owner_can_read(
    scanned: Callable[..., list[str]], run: Run, tmp_path: Path
) -> None:
    image = scanned(shade=7)
    told = run("reveal", *image, *WHY, "--out", tmp_path / "cut", "--json").data
    (box,) = told["parts"][1]["boxes"]
    cut = np.asarray(Image.open(tmp_path / "cut" / box["file"]))
    assert (cut.shape, cut.min()) == ((box["y1"] - box["y0"], box["x1"] - box["x0"]), 7)
    assert stat.S_IMODE((tmp_path / "cut").stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "cut").iterdir()} == {0o600}
    again = run("reveal", *image, *WHY, "--out", tmp_path / "cut")
    assert (again.code, again.out, "the folder exists" in again.err) == (2, "", True)
    (tmp_path / "ours.toml").write_text(POLICY.replace('"pixels"', "true"))
    plain = run("reveal", *scanned(shade=9), *WHY, "--out", tmp_path / "none")
    assert (plain.code, "No pixels of this image are kept" in plain.err) == (0, True)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (("--image", "f" * 24), "no image of this number"),
        (("--image", "Emily"), "24 digits"),
        (("--image", "f" * 24, "Kevin Chang"), "only --image ID"),
        (("--image", "f" * 24, "--patient-file", "who"), "Remove it"),
        (("Kevin Chang", "--out", "folder"), "only for --image"),
    ],
)
def test_a_wrong_question_shows_nothing(
    scanned: Callable[..., list[str]], run: Run, tmp_path: Path, asked: tuple[str, ...], says: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    scanned()
    monkeypatch.chdir(tmp_path)
    done = run("reveal", *asked, *WHY, "--audit", tmp_path / "asked.jsonl")
    assert (done.code, done.out, says in done.err) == (2, "", True), done.err
    log = tmp_path / "asked.jsonl"
    assert not log.exists() or '"shown": true' not in log.read_text()


def test_a_policy_that_forbids_reveals_shows_no_image(
    scanned: Callable[..., list[str]], run: Run, tmp_path: Path
) -> None:
    image = scanned()
    (tmp_path / "hidden.toml").write_text('name = "hidden"\nextends = "strict"\n[relex]\nreveal = false\n')
    done = run("reveal", *image, *WHY, "--policy", tmp_path / "hidden.toml", "--audit", tmp_path / "asked.jsonl")
    assert (done.code, done.out, "reveal = false" in done.err) == (1, "", True)
    assert json.loads((tmp_path / "asked.jsonl").read_text())["shown"] is False


def test_where_two_must_agree_an_image_is_shown_once_after_another_persons_approval(
    scanned: Callable[..., list[str]], run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image, other = scanned(), scanned(shade=9)
    monkeypatch.setenv("INCOGNOTE_REVEAL_APPROVALS", "2")
    asked = run("reveal", *image, *WHY)
    assert (asked.code, asked.out, "Two people must agree" in asked.err) == (3, "", True)
    (request,) = run("reveals", "list", "--json").data["requests"]
    assert request["about"]["question"]["image"] == image[1]
    settings = Settings.load()
    with closing(open_reveals(settings, settings.keyring(persistent=True))) as reveals:
        reveals.approve(request["id"], "somebody else")
    assert run("reveal", *other, *WHY, "--approval", request["id"]).out == ""
    assert "Emily Carter" in run("reveal", *image, *WHY, "--approval", request["id"]).out
    assert run("reveal", *image, *WHY, "--approval", request["id"]).code == 2
    told = [(one.event, one.facts.get("image")) for one in entries(home() / "audit") if one.facts.get("item")]
    assert told == [("reveal.requested", None), ("image.revealed", image[1])]


@pytest.mark.parametrize("command", [("index", "forget"), ("forget", "--by", "Ada")])
def test_after_forgetting_a_patient_no_image_of_the_patient_is_revealed(
    scanned: Callable[..., list[str]], run: Run, tmp_path: Path, command: tuple[str, ...]
) -> None:
    image, other = scanned(), scanned(shade=9, who="other")
    assert run("reveal", *image, *WHY).code == 0
    (tmp_path / "name").write_text("  SUBJECT-７７31\n")
    done = run(*command, "--patient-file", tmp_path / "name", "--yes", "--json")
    assert done.code == 0, done.err
    assert run("reveal", *image, *WHY).code == 2
    assert run("reveal", *other, *WHY).code == 0


def test_an_image_is_forgotten_by_its_number_and_counted_in_the_index(
    scanned: Callable[..., list[str]], run: Run
) -> None:
    image, other = scanned(), scanned(shade=9)
    assert run("index", "stats", "--json").data["images"] == 2
    assert run("index", "forget", *image, "--yes", "--json").data["known"] is True
    assert [run("reveal", *one, *WHY).code for one in (image, other)] == [2, 0]
    again = run("index", "forget", *image, "--yes")
    assert (again.code, "does not know this image" in again.err) == (3, True)
    assert run("index", "forget", "--yes").code == 2
    assert run("index", "stats", "--json").data["images"] == 1


def test_the_name_of_an_output_has_the_number_unless_names_are_kept(
    scanned: Callable[..., list[str]], run: Run, tmp_path: Path
) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    draw(folder / "Emily Carter.png")
    draw(folder / "copy.png")
    (folder / "note.txt").write_text("Seen by Dr. Emily Carter.")
    _, number = scanned()
    deid = ("deid", folder, "--out", out, "--detectors", "rules")
    done = run(*deid)
    assert done.code == 0, done.err
    names = sorted(path.name for path in out.glob("*.png"))
    assert len(names) == 2
    assert all(re.fullmatch(rf"[0-9a-f]{{24}}\.{number}\.png", name) for name in names)
    assert numbers(out) == dict.fromkeys(names, number)
    assert "Emily Carter" in run("reveal", "--image", number, *WHY).out
    before = {path.name: path.read_bytes() for path in out.iterdir() if path.suffix in (".png", ".txt")}
    assert run(*deid, "--resume").code == 0
    assert numbers(out) == dict.fromkeys(names, number)
    (tmp_path / "ours.toml").write_text(POLICY.partition("[pages]")[0])
    assert run(*deid, "--overwrite").code == 0
    assert sorted(path.name for path in out.glob("*.png")) == [f"{name[:24]}.png" for name in names]
    (tmp_path / "ours.toml").write_text(POLICY)
    assert run(*deid, "--overwrite").code == 0
    assert {path.name: path.read_bytes() for path in out.iterdir() if path.suffix in (".png", ".txt")} == before
    kept = run("deid", folder, "--out", tmp_path / "kept", "--keep-names", "--detectors", "rules")
    assert kept.code == 0, kept.err
    assert numbers(tmp_path / "kept") == {"Emily Carter.png": number, "copy.png": number}
