"""Speech of Festival, by the program of that name. Its utterance structure has the time of each word."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import soundfile

from incognote_benchmarks.speech.spoken import Spoken, spoken

VOICES = ("cmu_us_slt_arctic_hts", "kal_diphone")
_SCHEME = """
(define (bounds token)
  (let ((start nil) (end nil))
    (mapcar
      (lambda (word)
        (let ((last (item.feat word "R:SylStructure.daughtern.daughtern.R:Segment.end")))
          (if (not (equal? last 0))
            (begin
              (if (not start)
                (set! start (item.feat word "R:SylStructure.daughter1.daughter1.R:Segment.p.end")))
              (set! end last)))))
      (item.daughters token))
    (format t "%l %l\\n" start end)))
(define (each token) (if token (begin (bounds token) (each (item.next token)))))
(define (say file words)
  (let ((utterance (utt.synth (eval (list 'Utterance 'Text words)))))
    (utt.save.wave utterance file 'riff)
    (format t "line\\n")
    (each (utt.relation.first utterance 'Token))))
"""


def say(lines: Sequence[Sequence[str]], voice: str) -> list[Spoken]:
    """Return lines of words as sound.

    Raises:
        FileNotFoundError, subprocess.CalledProcessError: Festival or the voice is not installed.
        ValueError: Festival did not say the words one by one.
    """
    with tempfile.TemporaryDirectory() as folder:
        calls = [f'(say "{Path(folder) / str(i)}.wav" "{" ".join(words)}")' for i, words in enumerate(lines)]
        program = Path(folder) / "say.scm"
        program.write_text("\n".join([_SCHEME, f"(voice_{voice})", *calls]), encoding="ascii")
        command = ["festival", "-b", str(program)]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 -- our own program
        blocks = ran.stdout.split("line\n")[1:]
        if [len(block.splitlines()) for block in blocks] != [len(words) for words in lines]:
            raise ValueError("Festival did not say the words one by one")
        made = []
        for i, block in enumerate(blocks):
            samples, rate = soundfile.read(Path(folder) / f"{i}.wav", dtype="int16")
            pairs = [line.split() for line in block.splitlines()]
            made.append(spoken(samples, rate, [(float(start), float(end)) for start, end in pairs]))
        return made
