"""Whisper as a speech recognizer, by faster-whisper and a model in a folder. Nothing is loaded from a network."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incognote.errors import MissingExtra, RecordProblem, SettingError
from incognote.speech.asr.base import check_language, tidied
from incognote.speech.nouns import RATE, HeardWord

if TYPE_CHECKING:
    from incognote.speech.nouns import Samples

LANGUAGES = frozenset({"ar", "de", "en", "es", "fr"})
"""The languages of incognote. Whisper was trained on all of them."""

_NEEDED = ("<|endoftext|>", "<|startoftranscript|>", "<|transcribe|>", "<|translate|>", "<|notimestamps|>")


class Whisper:
    """A Whisper model on the processor, in 8-bit integers. A word's confidence is its probability.

    Args:
        folder: a model of CTranslate2, with `model.bin`, `config.json` and `tokenizer.json`.
        threads: processor threads of one call. Calls wait for each other.
    """

    name = "whisper"
    languages = LANGUAGES

    def __init__(self, folder: str | Path, threads: int = 1) -> None:
        self._folder, self._threads = Path(folder), threads
        self._turn = threading.Lock()
        self._model: Any = None

    def hear(self, sound: Samples, language: str) -> list[HeardWord]:
        """See `SpeechRecognizer.hear`."""
        check_language(self, language)
        if not len(sound):
            return []
        with self._turn:
            if self._model is None:
                self._model = _opened(self._folder, self._threads)
            if language != "en" and not self._model.model.is_multilingual:
                raise SettingError(f"the model in {self._folder} hears English only: set one for {language!r}")
            try:
                segments, _ = self._model.transcribe(
                    sound.astype("float32") / 32768,
                    language=language,
                    word_timestamps=True,
                    condition_on_previous_text=False,  # so that a repetition ends with its stretch
                    temperature=0.0,
                )
                words = [word for segment in segments for word in segment.words or ()]
            except (RuntimeError, ValueError):
                raise RecordProblem("Whisper failed on the sound") from None
        return tidied([(w.word, w.start, w.end, w.probability) for w in words], len(sound) / RATE)


def _opened(folder: Path, threads: int) -> Any:
    """Return the model in a folder.

    Raises:
        MissingExtra: faster-whisper is not installed.
        SettingError: the folder holds no model.
    """
    try:
        from faster_whisper import WhisperModel
    except ImportError:
        raise MissingExtra("whisper", "recognizing speech with Whisper") from None
    # without its tokenizer, faster-whisper would fetch one
    if missing := [name for name in ("model.bin", "tokenizer.json") if not (folder / name).is_file()]:
        raise SettingError(
            f"the folder of the Whisper model has no {' and no '.join(missing)}: {folder}. The setting recognizer is "
            "whisper:FOLDER, not the name of a model"
        )
    try:
        model = WhisperModel(
            str(folder), device="cpu", compute_type="int8", cpu_threads=threads, local_files_only=True
        )
        if any(model.hf_tokenizer.token_to_id(token) is None for token in _NEEDED):
            raise ValueError("the tokenizer of another model")
        return model
    except Exception:  # tokenizers raises nothing narrower
        raise SettingError(
            f"the folder holds no Whisper model of CTranslate2: {folder}. Make it with ct2-transformers-converter "
            "--copy_files tokenizer.json"
        ) from None
