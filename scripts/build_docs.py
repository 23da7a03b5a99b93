#!/usr/bin/env python3
"""Build the docs site, with a reference that is generated from the code.

    python scripts/build_docs.py [FOLDER]      # default: build, so the site is in build/site

You can build and read the site without a network. A broken link or anchor is an error.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args, get_origin

ROOT = Path(__file__).resolve().parents[1]
REPOSITORY = "https://github.com/incognote/incognote/blob/main"
ROOT_PAGES = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md"}
INTERNAL = "docs/review/"
"""The subfolder of `docs` that is not part of the site."""
LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
HIPAA = {
    "A": "Names", "B": "Geographic units smaller than a state", "C": "Dates, and ages over 89",
    "D": "Telephone numbers", "E": "Fax numbers", "F": "Email addresses", "G": "Social security numbers",
    "H": "Medical record numbers", "I": "Health plan beneficiary numbers", "J": "Account numbers",
    "K": "Certificate and license numbers", "L": "Vehicle identifiers", "M": "Device identifiers",
    "N": "URLs", "O": "IP addresses", "P": "Biometric identifiers", "R": "Other unique identifiers",
}  # fmt: skip


def relinked(text: str, source: Path) -> str:
    """Rewrite the links of a page so that they work on the site.

    Raises:
        SystemExit: a link names a file that does not exist.
    """
    page = ROOT_PAGES.get(source.name) if source.parent == ROOT else source.relative_to(ROOT / "docs").as_posix()
    assert page is not None

    def link(match: re.Match[str]) -> str:
        before, target, after = match.groups()
        if re.match(r"[a-z]+:", target) or (source.parent / target).is_relative_to(ROOT / "docs" / "reference"):
            return match[0]
        path = Path(os.path.normpath(source.parent / target))
        if not path.exists():
            raise SystemExit(f"{source.relative_to(ROOT)}: the link {target} points to no file")
        name = path.relative_to(ROOT).as_posix()
        if name in ROOT_PAGES:
            name = f"docs/{ROOT_PAGES[name]}"
        if name.startswith("docs/") and not name.startswith(INTERNAL) and not path.is_dir():
            return before + os.path.relpath(name, Path("docs", page).parent) + after
        return f"{before}{REPOSITORY}/{name}{after}"

    return LINK.sub(link, text)


def copy(pages: Path) -> None:
    """Copy the handwritten pages and the files that they show."""
    shutil.rmtree(pages, ignore_errors=True)
    shutil.copytree(ROOT / "docs", pages)
    shutil.rmtree(pages.parent / INTERNAL)
    for page in pages.rglob("*.md"):
        page.write_text(relinked(page.read_text("utf-8"), ROOT / "docs" / page.relative_to(pages)), "utf-8")
    for name, page_name in ROOT_PAGES.items():
        (pages / page_name).write_text(relinked((ROOT / name).read_text("utf-8"), ROOT / name), "utf-8")


def cell(text: object) -> str:
    """Escape text for one cell of a table."""
    parts = " ".join(str(text).split()).split("`")
    return "`".join(part if number % 2 else part.replace("|", "\\|") for number, part in enumerate(parts))


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a Markdown table. Empty columns are left out, and an empty cell gets a dash."""
    head, cells = list(head), [list(row) for row in rows]
    used = [number for number in range(len(head)) if any(row[number] for row in cells)]
    lines = [[head[number] for number in used], ["---"] * len(used), *([row[n] or "–" for n in used] for row in cells)]
    return "".join(f"| {' | '.join(cell(value) for value in row)} |\n" for row in lines) + "\n"


# The command line


def command_text(command: Any, path: str, level: int) -> str:
    """Describe a command, its options by group, and its subcommands."""
    context = command.context_class(command, info_name=path)
    usage = " ".join(command.collect_usage_pieces(context))
    help_text = re.sub(
        r"^Examples?:((?:\s+incognote .*)+)",
        lambda found: "```sh\n" + "\n".join(map(str.strip, found[1].strip().splitlines())) + "\n```",
        command.help or "",
        flags=re.M,
    )
    text = f"{'#' * level} {path}\n\n{help_text}\n\n"
    subcommands = getattr(command, "commands", {})
    if subcommands:
        for name, sub in subcommands.items():
            text += command_text(sub, f"{path} {name}", level + 1)
        return text
    text += f"```text\n{path} {usage}\n```\n\n"
    panels: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(context):
        if getattr(parameter, "hidden", False):
            continue
        argument = parameter.param_type_name == "argument"
        written, meaning = parameter.get_help_record(context) or (parameter.name.upper(), "")
        written = re.sub(r" <list\[.*", "", written)
        panel = getattr(parameter, "rich_help_panel", None) or ("Arguments" if argument else "Options")
        panels.setdefault(panel, []).append((f"`{written}`", meaning))
    for panel, rows in panels.items():
        text += f"**{panel}**\n\n" + table(("Argument" if panel == "Arguments" else "Option", "Meaning"), rows)
    return text


def command_pages() -> dict[str, str]:
    """Return the page `commands`, which lists all commands, and `cli/NAME` for each top-level command."""
    from typer.main import get_command

    from incognote.cli import app

    shell: Any = get_command(app)
    commands = {name: command for name, command in sorted(shell.commands.items()) if not command.hidden}
    rows = (
        (f"[`incognote {name}`](cli/{name}.md)", each.get_short_help_str(limit=200)) for name, each in commands.items()
    )
    head = f"# Command line\n\n{shell.help}\n\n{shell.epilog or ''}\n\n"
    pages = {f"cli/{name}": command_text(command, f"incognote {name}", 1) for name, command in commands.items()}
    return {"commands": head + table(("Command", "What it does"), rows), **pages}


# Settings


def type_name(annotation: Any) -> str:
    """Return the name of a type for the reader of a settings file."""
    if annotation is type(None):
        return ""
    origin, arguments = get_origin(annotation), [a for a in get_args(annotation) if a is not Ellipsis]
    if origin is tuple:
        return f"list of {type_name(arguments[0])}"
    if origin is dict:
        return "table"
    if str(origin) == "typing.Literal":
        return " or ".join(f"`{a}`" for a in arguments)
    if arguments:
        return " or ".join(filter(None, map(type_name, arguments)))
    names = {
        "str": "text",
        "int": "integer",
        "float": "number",
        "bool": "`true` or `false`",
        "SecretStr": "secret text",
    }
    return names.get(annotation.__name__, "path" if annotation is Path else "table")


def default_of(field: Any) -> str:
    """Return a default in TOML syntax."""
    value = field.default
    if field.default_factory is not None:
        return "`~/.config/incognote`"
    if value is None or value == () or value == {} or not isinstance(value, str | int | float | tuple):
        return ""
    return f"`{json.dumps(value)}`"


def settings_rows(model: Any, names: Iterable[str], prefix: str = "") -> Iterator[tuple[str, str, str, str]]:
    for name in names:
        field = model.model_fields[name]
        variable = "" if prefix else f"<br>`INCOGNOTE_{name.upper()}`"
        anchor = f"`{name}`{{ #{prefix}{name} }}{variable}"
        yield anchor, type_name(field.annotation), default_of(field), field.description or ""


def settings_page() -> str:
    """Return the page of all settings."""
    from incognote.settings import ModelSettings, ServiceSettings, Settings

    head = ("Setting", "Type", "Default", "Meaning")
    own = [name for name in Settings.model_fields if name not in ModelSettings.model_fields]
    return "".join((
        "# Settings\n\n"
        "Set a value in any of these places. The first place that has a value wins.\n\n"
        "1. A keyword argument in Python, or an option on the command line.\n"
        "2. An environment variable: `INCOGNOTE_` and the name in capitals. Write a list or table as JSON.\n"
        "3. The TOML file that `--config`, `config=`, or `INCOGNOTE_CONFIG` names. Use the setting's name as the key.\n"
        "4. The default.\n\n"
        "incognote never reads a settings file just because it is in the working folder.\n\n"
        "```toml\n"
        'policy = "safe-harbor"\nkey_file = "/etc/incognote/key"\n\n[service]\nbatch_records = 32\n\n'
        '[models."openai/gpt-4o-mini"]\npasses = 1\n'
        "```\n\n## General\n\n",
        table(head, settings_rows(Settings, own)),
        "## Language models\n\nTo change one of these for a single model, set it in the table "
        '`[models."vendor/name"]`.\n\n',
        table(head, settings_rows(Settings, ModelSettings.model_fields)),
        "## Service\n\nThese settings belong to the worker and the REST service. Set them in the table `[service]`, "
        'or as JSON in one variable: `INCOGNOTE_SERVICE=\'{"batch_records": 32}\'`.\n\n',
        table(head, settings_rows(ServiceSettings, ServiceSettings.model_fields, "service.")),
        "## Other environment variables\n\n",
        table(("Variable", "Meaning"), (
            ("`INCOGNOTE_CONFIG`", "Path of the settings file."),
            ("`OPENAI_API_KEY`", "API key of OpenAI when `api_key` is not set. Other vendors have their own."),
            ("`XDG_CONFIG_HOME`", "The folder that holds `incognote` when `home` is not set. Default: `~/.config`."),
        )),
    ))  # fmt: skip


# Reason codes and entity types


def reasons_page() -> str:
    """Return the page of all reason codes, under the headings of the file."""
    from incognote.reasons import reason_texts

    texts = reason_texts()
    content = (ROOT / "incognote" / "reasons.toml").read_text("utf-8")
    text = (
        "# Reason codes\n\nWhen incognote does not release a record, the result names one or more reasons. Each reason "
        "has a stable code, the path of the field, and a detail. A reason never holds a value from the record. The "
        "command line and the review page show the same explanations.\n\n"
    )
    for heading, part in re.findall(r"^# (.*)\n\n((?:[^#].*\n|\n)+)", content, re.M):
        text += f"## {heading}\n\n" + table(("Code", "What it means", "What to do"), (
            (f"`{code}`{{ #{code} }}", texts[code].means,
             texts[code].next + (f" In review: {texts[code].review}" if texts[code].review != texts[code].next else ""))
            for code in re.findall(r"^\[(.+)\]$", part, re.M)
        ))  # fmt: skip
    return text


def types_page() -> str:
    """Return the page of all entity types in the catalog."""
    from incognote.schemas.catalogue import catalogue

    types = catalogue()
    rows = (
        (f"`{each.name}`{{ #{each.name} }}", each.about[:1].upper() + each.about[1:] + ".",
         f"`{each.parent}`" if each.parent else "", each.group, each.hipaa)
        for each in types.values()
    )  # fmt: skip
    other = (
        (f"`{e.name}`", *(f"`{n}`" if n else "" for n in (e.i2b2, e.presidio, e.aws, e.azure))) for e in types.values()
    )
    return "".join((
        f"# Entity types\n\nThe catalog has {len(types)} entity types. If a policy does not list a type, it handles "
        "the type as the nearest parent that it lists. To add "
        "your own type, see [Add an entity type](../entity-types.md).\n\n",
        table(("Type", "Description", "Parent", "Group", "HIPAA"), rows),
        "## HIPAA categories\n\nThe letters are those of the Safe Harbor list, 45 CFR 164.514(b)(2)(i). Category Q, "
        "full-face photographs, is not text. Types without a letter are not on the list.\n\n",
        table(("Letter", "Category"), HIPAA.items()),
        "## Names in other systems\n\n",
        table(("Type", "i2b2", "Presidio", "Amazon Comprehend Medical", "Azure Health"), other),
    ))  # fmt: skip


# The HTTP API


def shape(schema: dict[str, Any]) -> str:
    """Return the type of a value in a JSON schema, as Markdown."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if options := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(dict.fromkeys(map(shape, options)))
    if "enum" in schema or "const" in schema:
        return " or ".join(f"`{json.dumps(value)}`" for value in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        return f"array of {shape(schema.get('items', {}))}"
    return str(schema.get("format") or schema.get("type") or "any")


def operation_text(method: str, path: str, operation: dict[str, Any]) -> str:
    """Describe one operation: parameters, request body, and responses."""
    text = f"### {method.upper()} {path}\n\n{operation.get('description') or operation.get('summary', '')}\n\n"
    if parameters := operation.get("parameters"):
        rows = ((f"`{p['name']}`", p["in"], shape(p["schema"]), "yes" if p.get("required") else "no",
                 p.get("description", "")) for p in parameters)  # fmt: skip
        text += table(("Parameter", "In", "Type", "Required", "Meaning"), rows)
    if body := operation.get("requestBody"):
        kinds = (f"{shape(each.get('schema', {}))} (`{kind}`)" for kind, each in body["content"].items())
        text += f"**Request body:** {', or '.join(kinds)}\n\n"
    bodies = {
        status: ", or ".join(shape(each.get("schema", {})) for each in answer.get("content", {}).values())
        for status, answer in operation["responses"].items()
    }
    errors = [status for status, body in bodies.items() if body == "[Problem](#problem)"]
    rows = (
        (status, body, operation["responses"][status]["description"].replace("Successful Response", "Success"))
        for status, body in bodies.items()
        if status not in errors
    )
    text += table(("Status", "Response body", "Meaning"), rows)
    return text + (f"**[Errors](#errors):** {', '.join(sorted(errors))}\n\n" if errors else "")


def http_page() -> str:
    """Return the page of all operations and schemas of the REST service."""
    from incognote.service.api.app import application
    from incognote.service.api.problems import TITLES
    from incognote.settings import Settings

    context: Any = SimpleNamespace(settings=Settings())
    document = application(context).inner.openapi()
    text = (
        f"# HTTP API\n\n{document['info']['description']}\n\n"
        "[The REST service](../api.md) shows how to start the service and how to authenticate.\n\n"
        "## Errors\n\nThe body of an error is a [Problem](#problem).\n\n"
    ) + table(("Status", "Title"), ((status, f"`{title}`") for status, title in TITLES.items()))
    tags: dict[str, str] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            tag = operation.get("tags", ["other"])[0]
            tags[tag] = tags.get(tag, "") + operation_text(method, path, operation)
    for tag, part in tags.items():
        text += f"## {tag[:1].upper() + tag[1:]}\n\n{part}"
    text += "## Schemas\n\n"
    for name, schema in sorted(document["components"]["schemas"].items()):
        required = schema.get("required", ())
        rows = ((f"`{field}`", shape(each), "yes" if field in required else "no", each.get("description", ""))
                for field, each in schema.get("properties", {}).items())  # fmt: skip
        text += f"### {name}\n\n{schema.get('description', '')}\n\n" + table(
            ("Field", "Type", "Required", "Meaning"), rows
        )
    return text


# Python


def python_page() -> str:
    """Return the page of public classes, which mkdocstrings completes."""
    import incognote

    errors = ("IncognoteError", "NotReleased", "UsageError")
    names = [
        "Deidentifier",
        *(n for n in incognote.__all__ if n not in ("Deidentifier", *errors)),
        "schemas.choices.Policy",
    ]
    head = "# Python\n\nImport these names from `incognote`. [Errors](errors.md) lists what they raise.\n\n"
    return head + "".join(f"::: incognote.{name}\n\n" for name in names)


def generate(reference: Path) -> list[str]:
    """Write the reference, and return the names of the commands."""
    commands = command_pages()
    pages = {
        "settings": settings_page(),
        "reason-codes": reasons_page(),
        "entity-types": types_page(),
        "http": http_page(),
        "python": python_page(),
        "errors": "# Errors\n\n::: incognote.errors\n    options:\n      show_root_heading: false\n",
        **commands,
    }
    for name, text in pages.items():
        (reference / name).parent.mkdir(parents=True, exist_ok=True)
        (reference / f"{name}.md").write_text(text.rstrip() + "\n", "utf-8")
    return [name.removeprefix("cli/") for name in commands if name != "commands"]


def main(build: Path) -> int:
    """Copy, generate, and build the site. Returns the exit status of zensical."""
    pages = build.resolve() / "docs"
    copy(pages)
    commands = generate(pages / "reference")
    config = (ROOT / "zensical.toml").read_text("utf-8").replace('".."', json.dumps(str(ROOT)))
    nav = ", ".join(f'{{ "{name}" = "reference/cli/{name}.md" }}' for name in commands)
    (build / "zensical.toml").write_text(config.replace('"@commands"', nav), "utf-8")
    zensical = [sys.executable, "-m", "zensical", "build", "--strict", "--clean", "-f", str(build / "zensical.toml")]
    return subprocess.run(zensical, check=False).returncode  # noqa: S603 -- our own arguments


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build"))
