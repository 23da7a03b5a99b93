"""Whisper by faster-whisper. The model is a real one, with weights set by hand: it always hears the same two words."""

from __future__ import annotations

import json
import shutil
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from incognote.errors import MissingExtra, RecordProblem, SettingError, UnknownName
from incognote.speech.asr.registry import recognizer_of
from incognote.speech.asr.whisper import LANGUAGES, Whisper
from incognote.speech.nouns import RATE

from .spoken import VISIT, noise, say

_TIMES, _WIDTH = 1_501, 32  # tokens of times, numbers of a token
_SPECIAL = ("<|endoftext|>", "<|startoftranscript|>", "<|en|>", "<|translate|>", "<|transcribe|>", "<|startoflm|>",
            "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>")  # fmt: skip
_SAID = ("<|0.00|>", "Ġgood", "Ġmorning", "<|2.00|>", "<|endoftext|>")  # after <|startoftranscript|>


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An English model of CTranslate2 with one layer."""
    needed = ("faster_whisper", "ctranslate2", "transformers", "torch")
    for name in needed:
        pytest.importorskip(name, reason="the extra `whisper`, or transformers and torch to make a model, is missing")
    from ctranslate2.converters import TransformersConverter

    folder = tmp_path_factory.mktemp("whisper")
    _written(folder / "torch")
    converter = TransformersConverter(str(folder / "torch"), copy_files=["tokenizer.json"])
    converter.convert(str(folder / "model"), quantization="int8")
    return folder / "model"


def _written(folder: Path) -> None:
    """Write a model whose position in the reply alone decides the next token."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import GenerationConfig, PreTrainedTokenizerFast, WhisperConfig, WhisperForConditionalGeneration

    plain = [*sorted(pre_tokenizers.ByteLevel.alphabet()), "Ġgood", "Ġmorning"]
    tokenizer = Tokenizer(models.BPE({token: at for at, token in enumerate(plain)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([*_SPECIAL, *(f"<|{0.02 * at:.2f}|>" for at in range(_TIMES))])
    end = "<|endoftext|>"
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=end, bos_token=end, unk_token=end).save_pretrained(
        folder
    )
    of = tokenizer.token_to_id
    torch.manual_seed(0)
    made = WhisperForConditionalGeneration(WhisperConfig(
        vocab_size=tokenizer.get_vocab_size(), num_mel_bins=80, d_model=_WIDTH, encoder_layers=1, decoder_layers=1,
        encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=_WIDTH, decoder_ffn_dim=_WIDTH,
        decoder_start_token_id=of(_SPECIAL[1]), pad_token_id=of(end), bos_token_id=of(end), eos_token_id=of(end),
        suppress_tokens=None, begin_suppress_tokens=None,
    ))  # fmt: skip
    decoder = made.model.decoder
    with torch.no_grad():
        for layer in decoder.layers:
            for part in (layer.self_attn.out_proj, layer.encoder_attn.out_proj, layer.fc2):
                part.weight.zero_()
                part.bias.zero_()
        decoder.embed_tokens.weight.mul_(0.1)
        decoder.embed_positions.weight.zero_()
        for at, token in enumerate(_SAID):
            decoder.embed_tokens.weight[of(token)] = torch.eye(_WIDTH)[at] * 4
            decoder.embed_positions.weight[at, at] = 40.0
    made.generation_config = GenerationConfig(
        lang_to_id={"<|en|>": of("<|en|>")}, suppress_tokens=[], begin_suppress_tokens=[of(end)],
        alignment_heads=[[0, 0], [0, 1]],
    )  # fmt: skip
    made.save_pretrained(folder)


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The addresses that were asked for. None is reached."""
    asked: list[Any] = []

    def refused(*address: Any, **_: Any) -> None:
        asked.append(address)
        raise OSError("no network")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    return asked


def test_words_are_heard_in_order_within_the_sound_without_a_network(model: Path, offline: list[Any]) -> None:
    sound = say(VISIT)
    words = recognizer_of(f"whisper:{model}").hear(sound, "en")
    assert [word.text for word in words] == ["good", "morning"]
    times = [time for word in words for time in (word.start, word.end)]
    assert times == sorted(times)
    assert 0 <= times[0] <= times[-1] <= len(sound) / RATE
    assert all(0.5 < word.confidence <= 1 for word in words)
    assert not offline


@pytest.mark.parametrize("samples", [1, 399, 1_600, 60 * RATE])
def test_sounds_of_any_length_are_heard(model: Path, samples: int) -> None:
    words = Whisper(model).hear(np.resize(noise(1), samples), "en")
    assert all(0 <= word.start <= word.end <= samples / RATE for word in words)


def test_nothing_is_heard_in_nothing() -> None:
    assert Whisper("absent").hear(np.zeros(0, np.int16), "en") == []


@pytest.mark.parametrize("language", sorted(LANGUAGES - {"en"}))
def test_an_english_model_refuses_other_languages(model: Path, language: str) -> None:
    with pytest.raises(SettingError, match=f"hears English only: set one for '{language}'"):
        Whisper(model).hear(noise(1), language)


def test_an_unknown_language_is_refused(model: Path) -> None:
    with pytest.raises(SettingError, match="'tlh'"):
        Whisper(model).hear(noise(1), "tlh")


def test_a_failure_of_the_model_is_a_problem_of_the_record_without_words(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from faster_whisper import WhisperModel

    def failing(*_: Any, **__: Any) -> None:
        raise RuntimeError("Harper")

    monkeypatch.setattr(WhisperModel, "generate_with_fallback", failing)
    recognizer = Whisper(model)
    with pytest.raises(RecordProblem) as problem:
        recognizer.hear(noise(1), "en")
    assert "Harper" not in str(problem.value)
    assert problem.value.__suppress_context__


@pytest.mark.parametrize("name", ["tiny.en", "large-v3", "Systran/faster-whisper-tiny", "/absent"])
def test_the_name_of_a_model_is_no_folder_and_nothing_is_fetched(name: str, offline: list[Any]) -> None:
    pytest.importorskip("faster_whisper", reason="the extra `whisper` is missing")
    with pytest.raises(SettingError, match=r"no model\.bin and no tokenizer\.json.*recognizer.*whisper:FOLDER"):
        recognizer_of(f"whisper:{name}").hear(noise(1), "en")
    assert not offline


@pytest.mark.parametrize(
    ("file", "content"),
    [("model.bin", b"no model"), ("model.bin", b""), ("tokenizer.json", b"{}"), ("tokenizer.json", b"{"),
     ("tokenizer.json", b"\xff"), ("config.json", b"{")],
)  # fmt: skip
def test_a_damaged_model_is_named_with_the_remedy(
    model: Path, file: str, content: bytes, tmp_path: Path, offline: list[Any]
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(model, folder)
    (folder / file).write_bytes(content)
    with pytest.raises(SettingError, match=f"{folder}.*ct2-transformers-converter"):
        Whisper(folder).hear(noise(1), "en")
    assert not offline


def test_a_model_without_its_tokenizer_is_refused(model: Path, tmp_path: Path, offline: list[Any]) -> None:
    folder = tmp_path / "model"
    shutil.copytree(model, folder)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(SettingError, match=r"no tokenizer\.json"):
        Whisper(folder).hear(noise(1), "en")
    assert not offline


def test_a_model_with_another_vocabulary_is_refused(model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(model, folder)
    known = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    known["added_tokens"] = [each for each in known["added_tokens"] if each["content"] != "<|startoftranscript|>"]
    (folder / "tokenizer.json").write_text(json.dumps(known), encoding="utf-8")
    with pytest.raises(SettingError, match="ct2-transformers-converter"):
        Whisper(folder).hear(noise(1), "en")


def test_without_faster_whisper_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "faster_whisper", None)
    with pytest.raises(MissingExtra, match="whisper"):
        Whisper(tmp_path).hear(noise(1), "en")


def test_a_name_without_a_folder_is_no_recognizer() -> None:
    with pytest.raises(UnknownName, match="whisper:FOLDER"):
        recognizer_of("whisper:")
