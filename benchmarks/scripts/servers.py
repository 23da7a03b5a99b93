"""Record how a real server answers, with a tiny model of random weights. Tests replay the answers.

In an environment of its own (llama-cpp-python is compiled, which takes some minutes):

    pip install 'llama-cpp-python[server]' gguf
    python benchmarks/scripts/servers.py model tiny.gguf
    python -m llama_cpp.server --model tiny.gguf --n_ctx 16384 --port 18765
    python benchmarks/scripts/servers.py record llama-cpp-python http://127.0.0.1:18765/v1

llama.cpp's own server is built from the same source package (`vendor/llama.cpp`, target `llama-server`):

    llama-server -m tiny.gguf -c 16384 -np 1 --no-webui --port 18766
    python benchmarks/scripts/servers.py record llama.cpp http://127.0.0.1:18766/v1

Then run `incognote doctor` and `incognote deid` against the server, and enter the result in docs/measured/servers.json.
Nothing is sent but invented words.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

FOLDER = Path(__file__).parents[2] / "tests" / "data" / "servers"
SCHEMA = {
    "type": "object",
    "properties": {"PERSON": {"type": "array", "items": {"type": "string"}}},
    "required": ["PERSON"],
    "additionalProperties": False,
}
STRICT = {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": SCHEMA}}
SEEN = [{"role": "user", "content": "Seen: Ms. Abara."}]
HELLO = [{"role": "user", "content": "hello"}]
PROBES: dict[str, dict[str, Any]] = {
    "plain": {"messages": SEEN, "max_tokens": 12, "store": False, "seed": 1},
    "json_schema": {"messages": SEEN, "max_tokens": 12, "response_format": STRICT},
    "json_schema_long": {"messages": SEEN, "max_tokens": 400, "response_format": STRICT},
    "json_object": {"messages": HELLO, "max_tokens": 400, "response_format": {"type": "json_object"}},
    "unknown_format": {"messages": SEEN, "max_tokens": 12, "response_format": {"type": "yaml"}},
    "too_long": {"messages": [{"role": "user", "content": "word " * 8000}], "max_tokens": 12},
}
"""What is sent, in this order."""


def model(path: Path) -> None:
    """Write a GGUF file: one layer with random weights, and a vocabulary of single bytes."""
    import gguf
    import numpy as np

    random = np.random.default_rng(7)
    special = [(b"<unk>", gguf.TokenType.UNKNOWN), (b"<s>", gguf.TokenType.CONTROL), (b"</s>", gguf.TokenType.CONTROL)]
    single = [(f"<0x{byte:02X}>".encode(), gguf.TokenType.BYTE) for byte in range(256)]
    tokens = [*special, *single, ("\u2581".encode(), gguf.TokenType.NORMAL)]
    width, inner, heads = 32, 64, 2
    file = gguf.GGUFWriter(str(path), "llama")
    file.add_context_length(16_384)
    file.add_embedding_length(width)
    file.add_block_count(1)
    file.add_feed_forward_length(inner)
    file.add_head_count(heads)
    file.add_head_count_kv(heads)
    file.add_layer_norm_rms_eps(1e-5)
    file.add_rope_dimension_count(width // heads)
    file.add_vocab_size(len(tokens))
    file.add_tokenizer_model("llama")
    file.add_tokenizer_pre("default")
    file.add_token_list([token for token, _ in tokens])
    file.add_token_types([kind for _, kind in tokens])
    file.add_token_scores([0.0] * 3 + [-1000.0] * 256 + [-1.0])
    file.add_bos_token_id(1)
    file.add_eos_token_id(2)
    file.add_unk_token_id(0)
    shapes = {"token_embd": (len(tokens), width), "output": (len(tokens), width), "blk.0.ffn_down": (width, inner)}
    shapes |= {f"blk.0.attn_{name}": (width, width) for name in ("q", "k", "v", "output")}
    shapes |= {f"blk.0.ffn_{name}": (inner, width) for name in ("gate", "up")}
    for name, shape in shapes.items():
        file.add_tensor(f"{name}.weight", (random.standard_normal(shape) * 0.3).astype(np.float32))
    for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        file.add_tensor(f"{name}.weight", np.ones(width, np.float32))
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()


def answer(url: str, body: dict[str, Any]) -> dict[str, Any]:
    """Return status, content type, and body of one answer, without the folders of the server's machine."""
    content = json.dumps({"model": "tiny", "temperature": 0.0, **body}).encode()
    request = Request(f"{url}/chat/completions", content, {"content-type": "application/json"})  # noqa: S310 -- as typed
    try:
        response = urlopen(request, timeout=120)  # noqa: S310 -- the address that the user typed
    except HTTPError as error:
        response = error
    with response:
        words = response.read().decode("utf-8", "replace")
    words = re.sub(r'(File \\")[^"\\]*/', r"\1", words)
    return {"status": response.status, "type": response.headers.get("content-type"), "body": words}


def main() -> None:
    """Run one of the two commands."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("model").add_argument("path", type=Path)
    recording = commands.add_parser("record")
    recording.add_argument("name")
    recording.add_argument("url")
    given = parser.parse_args()
    if given.command == "model":
        return model(given.path)
    answers = {name: answer(given.url, body) for name, body in PROBES.items()}
    (FOLDER / f"{given.name}.json").write_text(json.dumps(answers, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(json.dumps({name: each["status"] for name, each in answers.items()}) + "\n")
    return None


if __name__ == "__main__":
    main()
