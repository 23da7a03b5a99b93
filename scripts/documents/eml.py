"""Write the produced e-mails of `tests/data/documents/eml`: `python scripts/documents/eml.py`.

Python's email library writes the messages, and pandoc writes the HTML and RTF in them. The notes are synthetic
(`tests/data/notes.jsonl`). Some messages have a file of another corpus attached. Lines of `gold.jsonl` about
other files stay as they are.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from email import policy
from email.headerregistry import Address
from email.message import EmailMessage
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests/data/documents/eml"
SENDER = Address("Quintanar, Maribel", "maribel.quintanar", "stbrigid.example")
RECEIVER = Address("Łukasz Żeromski", "lzeromski", "kliniknord.example")
HEADER = ("Quintanar, Maribel", "maribel.quintanar@stbrigid.example", "Łukasz Żeromski", "lzeromski@kliniknord.example",
          "6612.quintanar@stbrigid.example", "10.77.3.19", "ws-quintanar")  # fmt: skip


def pandoc(text: str, form: str) -> str:
    """Return a text as a document of pandoc."""
    markdown = text.replace("\n", "\\\n")
    command = ["pandoc", "-f", "markdown-smart", "-t", form, "--wrap=none"]
    command += ["-s", "-M", "title=Letter"] if form != "plain" else []
    return subprocess.run(command, input=markdown, capture_output=True, text=True, check=True).stdout  # noqa: S603 -- fixed


def message(text: str, **how: Any) -> EmailMessage:
    """Return a message with a text and the usual header fields."""
    mail = EmailMessage(policy=how.pop("policy", policy.default))
    mail["Received"] = "from ws-quintanar (10.77.3.19) by mx.stbrigid.example; Mon, 3 Mar 2025 10:00:00 -0500"
    mail["From"], mail["To"] = SENDER, RECEIVER
    mail["Date"], mail["Message-ID"] = "Mon, 03 Mar 2025 10:00:00 -0500", "<6612.quintanar@stbrigid.example>"
    mail["Subject"] = how.pop("subject", "Naïve T-cell panel: please review")
    mail["X-Originating-IP"] = "[10.77.3.19]"
    mail.set_content(text, **how)
    return mail


def alternative(text: str) -> EmailMessage:
    mail = message(text)
    mail.add_alternative(pandoc(text, "html"), subtype="html")
    return mail


def with_file(text: str, data: str, kind: str, name: str) -> EmailMessage:
    mail = message("Please see the attached letter.\n")
    mail.add_attachment(data.encode(), maintype=kind.split("/")[0], subtype=kind.split("/")[1], filename=name)
    return mail


def forwarded(text: str) -> EmailMessage:
    mail = message("FYI, see below.\n")
    mail.add_attachment(message(text, cte="quoted-printable"))
    return mail


def reply(text: str) -> EmailMessage:
    quoted = "".join(f"> {line}\n" for line in text.splitlines())
    said = "On Mon, 3 Mar 2025 at 10:00, Maribel Quintanar <maribel.quintanar@stbrigid.example> wrote:\n"
    mail = message(f"Thanks, agreed.\n\n{said}{quoted}", subject="Re: Maribel Quintanar's question")
    mail.set_param("format", "flowed")
    mail["In-Reply-To"] = mail["References"] = "<6612.quintanar@stbrigid.example>"
    return mail


def deep(text: str) -> EmailMessage:
    """Return a message with a message with an RTF letter."""
    mail = message("See the forwarded message.\n")
    mail.add_attachment(with_file(text, pandoc(text, "rtf"), "text/rtf", "Quintanar, Maribel.rtf"))
    return mail


def digest(text: str) -> EmailMessage:
    mail = message("Two messages.\n")
    for _ in range(2):
        mail.add_attachment(message(text, cte="base64"))
    return mail


def record(text: str) -> str:
    return json.dumps({"dataType": "note", "id": "7", "text": text})


MAKERS: dict[str, Callable[[str], EmailMessage]] = {
    "plain-7bit": message,
    "plain-base64-crlf": lambda text: message(text, cte="base64", policy=policy.SMTP),
    "plain-quoted-crlf": lambda text: message(text, cte="quoted-printable", policy=policy.SMTP),
    "plain-8bit": lambda text: message(text, cte="8bit", policy=policy.default.clone(cte_type="8bit")),
    "latin-1": lambda text: message(text, charset="iso-8859-1"),
    "windows-1252": lambda text: message(text, charset="windows-1252", cte="quoted-printable"),
    "smtputf8": lambda text: message(text, policy=policy.SMTPUTF8),
    "alternative": alternative,
    "html-only": lambda text: message(pandoc(text, "html"), subtype="html"),
    "reply-flowed": reply,
    "forwarded": forwarded,
    "digest": digest,
    "attached-text": lambda text: with_file(text, text, "text/plain", "Żeromski Łukasz 0071.txt"),
    "attached-json": lambda text: with_file(text, record(text), "application/json", "Quintanar, Maribel.json"),
    "attached-rtf": lambda text: with_file(text, pandoc(text, "rtf"), "application/rtf", "Quintanar, Maribel.rtf"),
    "attached-in-attached": deep,
    "attached-html": lambda text: with_file(text, pandoc(text, "html"), "text/html", "Quintanar, Maribel.html"),
}
ATTACHED = {"attached-hl7": "hl7/hapi_00_oru_r01.hl7", "attached-page": "html/libreoffice-0.html"}
NARROW = {"latin-1": "iso-8859-1", "windows-1252": "windows-1252"}


def notes() -> list[dict[str, Any]]:
    """Return short English notes of the development corpus."""
    lines = (ROOT / "tests/data/notes.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    own = [row for row in rows if row["lang"] == "en" and row["spans"] and ">>>" not in row["text"]]
    return [row for row in own if 600 < len(row["text"]) < 2200]


def fits(text: str, charset: str) -> bool:
    return text.encode(charset, "replace").decode(charset) == text


def with_document(name: str, path: Path) -> dict[str, Any]:
    """Write a message with a document of another corpus. Return its gold."""
    lines = (path.parent / "gold.jsonl").read_text(encoding="utf-8").splitlines()
    row = next(row for row in map(json.loads, lines) if row["file"] == path.name)
    mail = message("Please see the attached document.\n")
    kind, _, subtype = row["media_type"].partition("/")
    mail.add_attachment(path.read_bytes(), maintype=kind, subtype=subtype, filename=f"Quintanar{path.suffix}")
    (FOLDER / f"{name}.eml").write_bytes(mail.as_bytes())
    identifiers = [*row["identifiers"], *({"text": words, "type": "HEADER"} for words in HEADER)]
    changed = {"file": f"{name}.eml", "made_by": f"{row['made_by']}, Python email", "media_type": "message/rfc822"}
    return {**row, **changed, "identifiers": identifiers}


def main() -> None:
    waiting = notes()
    rows = []
    for name, make in MAKERS.items():
        note = next(row for row in waiting if fits(row["text"], NARROW.get(name, "utf-8")))
        waiting.remove(note)
        text = note["text"] + "\n"
        mail = make(text)
        (FOLDER / f"{name}.eml").write_bytes(mail.as_bytes())
        spans = [{"text": text[s["start"] : s["end"]], "type": s["type"]} for s in note["spans"]]
        inside = " ".join(span["text"] for span in spans)
        words = [word for word in re.findall(r"\b[a-z]{8,}\b", text) if word not in inside]
        other = name in ("alternative", "html-only", "attached-rtf", "attached-in-attached", "attached-html")
        rows.append({
            "file": f"{name}.eml", "made_by": "pandoc, Python email" if other else "Python email",
            "kind": "produced", "media_type": "message/rfc822", "note": pandoc(text, "plain") if other else text,
            "identifiers": [*spans, *({"text": words, "type": "HEADER"} for words in HEADER)], "keeps": words[:3],
            "held": False,
        })  # fmt: skip
    rows += (with_document(name, FOLDER.parent / path) for name, path in ATTACHED.items())
    gold = FOLDER / "gold.jsonl"
    kept = gold.read_text(encoding="utf-8").splitlines() if gold.exists() else []
    others = [line for line in kept if json.loads(line)["kind"] != "produced"]
    lines = [*(json.dumps(row, ensure_ascii=False) for row in rows), *others]
    gold.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
