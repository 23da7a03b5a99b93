"""Load prompts from their files: read, hash, and render them for a text, with the entity types to ask for."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template
from types import MappingProxyType
from typing import Any, Literal, get_args

from incognote.errors import SettingError, UnknownName
from incognote.languages import language
from incognote.prompts import fence, marks, sendable
from incognote.prompts.overlay import Example, Guideline, changed, told
from incognote.schemas.catalogue import catalogue
from incognote.schemas.policy import Policy
from incognote.text.language import NAMES

_INPUTS = {"input": {"fence", "text"}, "several_input": {"texts"}}
Agent = Literal["extract", "propose", "relex/cluster", "relex/query", "relex/decision", "relex/replacement"]
Contract = Literal[1, 2]
SECTIONS = {
    "role": "Role",
    "guidelines": "Guidelines",
    "controls": "What to extract",
    "context_awareness": "Context",
    "output_format": "Output",
    "several": "Several texts",
    "self_checklist": "Checklist",
}
"""The sections of the instructions in order, with their headings. `several` is for composite requests only."""
Relexing = Literal["cluster", "query", "decision", "replacement"]
AGENTS: tuple[Relexing, ...] = get_args(Relexing)
_ANY_NUMBER = "GUID"
_HEADINGS = {name: heading for name, heading in SECTIONS.items() if name != "several"} | {"controls": "By kind"}


def version_of(content: object) -> str:
    """Return the version of a prompt: the first 16 hexadecimal digits of a SHA-256 over its content, as JSON."""
    written = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(written.encode()).hexdigest()[:16]


def sections_of(name: str) -> dict[str, str]:
    """Return the texts of a shipped prompt's file, for any agent."""
    written = _toml(files("incognote.prompts").joinpath(f"{name}.toml").read_bytes())
    return {key: str(value).strip() for key, value in written.items()}


@dataclass(frozen=True, slots=True)
class Rendered:
    """A prompt for one text, or for several.

    Args:
        system: the instructions. They are equal for all texts of a run, so that providers can cache them.
        user: the texts, fenced.
        several: the number of texts, if the reply is one object with a reply for each; 0 for a single text.
        marks: the marks around an identifier within a phrase (contract 2).
        schema: JSON schema of the reply.
        strict: whether the schema requires every property.
    """

    system: str = field(repr=False)
    user: str = field(repr=False)
    several: int
    marks: tuple[str, str]
    schema: Mapping[str, Any] = field(repr=False)
    strict: bool


@dataclass(frozen=True, slots=True)
class Prompt:
    """One agent's instructions in one version.

    Args:
        name: `extract/v3`, or the file's own name.
        contract: the version of the reply's contract.
        sections: the text of each section of RedactOR's template (§B.1), and `input`. `several` and `several_input`,
            which ask about several texts at once (its §5), may be absent.
        guidelines: text about a type, added to or replacing the catalogue's line (`overlay`).
        examples: worked examples. They may contain words of notes.
        languages: the languages it was written for, ISO 639-1.
        short: shorter lines for types than the catalogue's (`asked`). An empty line: the type's name says it all.
        generic: the reply's schema does not name the types, which costs about 470 tokens less per call. The model can
            then answer with another type, which `reply` reports as a fault.
    """

    name: str
    contract: Contract
    sections: Mapping[str, str] = field(repr=False)
    guidelines: Mapping[str, Guideline] = field(default_factory=dict, repr=False)
    examples: tuple[Example, ...] = field(default=(), repr=False)
    languages: tuple[str, ...] = ("en",)
    short: Mapping[str, str] = field(default_factory=dict, repr=False)
    generic: bool = False
    _made: dict[tuple[object, ...], Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """A cache of rendered parts.

    Instructions and schemas are the same for all texts of a run, except for rare marks.
    """

    @property
    def version(self) -> str:
        """The first 16 hexadecimal digits of a SHA-256 over contract, sections, and the additions of overlays."""
        content: list[Any] = [self.contract, dict(self.sections)]
        if self.guidelines or self.examples:
            lines = {name: asdict(one) for name, one in self.guidelines.items()}
            content += [lines, [one.marked for one in self.examples]]
        if self.languages != ("en",):  # so that older prompts keep their version
            content.append(list(self.languages))
        if self.short:
            content.append(dict(self.short))
        if self.generic:
            content.append("generic")
        return version_of(content)

    def localized(self, codes: frozenset[str]) -> Prompt:
        """Return the prompt with the additions of the packages of these languages (`prompt.toml`).

        Args:
            codes: ISO 639-1 codes of installed languages.

        Raises:
            SettingError: a package's additions are malformed.
        """
        if not codes:
            return self
        if (key := ("languages", codes)) not in self._made:
            made = self
            for code in sorted(codes):
                if written := language(code).table("prompt.toml"):
                    if extra := written.keys() & {"base", "languages", "drop_examples"}:
                        raise SettingError(f"prompt.toml of the language {code}: remove {', '.join(sorted(extra))}")
                    over = changed(written, made.sections, made.guidelines, made.examples)
                    _check(over.sections)
                    made = replace(made, sections=over.sections, guidelines=over.guidelines, examples=over.examples)
            self._made[key] = made
        localized: Prompt = self._made[key]
        return localized

    @property
    def composes(self) -> bool:
        """Whether it can ask about several texts at once."""
        return "several" in self.sections

    def types(self, policy: Policy) -> dict[str, str]:
        """Return the types that a policy asks for (`asked`), each with this prompt's line."""
        return asked(policy, self.short)

    def render(self, texts: Sequence[str], types: Mapping[str, str]) -> Rendered:
        """Render the prompt for one text, or for several texts of one patient.

        Args:
            texts: chunks, passed through `sendable`. In later passes, findings are masked by their type. More than one
                is allowed only if the prompt `composes`.
            types: the entity types to look for, each with a line that describes it.
        """
        several = len(texts) if len(texts) > 1 else 0
        opening, closing = marks("\n".join([*texts, *(one.text for one in self.examples)]))
        words = {"open": opening, "close": closing}
        lines, listed = self._lines(types)
        system = self._system(lines, opening, closing, several=bool(several))
        schema = self._schema(lines, several)
        if several:
            blocks = [f"Text {i}\n{fence(text)}\n{text}\n{fence(text)}" for i, text in enumerate(texts, 1)]
            words |= {"types": listed, "texts": "\n".join(blocks)}
            user = _filled(self.sections["several_input"], words)
        else:
            words |= {"types": listed, "fence": fence(texts[0]), "text": texts[0]}
            user = _filled(self.sections["input"], words)
        strict = self.contract == 1 and not self.generic
        return Rendered(system, user, several, (opening, closing), schema, strict)

    def _lines(self, types: Mapping[str, str]) -> tuple[tuple[tuple[str, str], ...], str]:
        """Return each type with its description, as pairs and as a readable list."""
        key = ("lines", *types.items())
        if key not in self._made:
            lines = tuple((name, self.guidelines.get(name, Guideline()).line(about)) for name, about in types.items())
            self._made[key] = lines, _listed(lines)
        made: tuple[tuple[tuple[str, str], ...], str] = self._made[key]
        return made

    def _system(self, types: tuple[tuple[str, str], ...], opening: str, closing: str, *, several: bool) -> str:
        """Return the instructions, rendered once for all texts with the same marks."""
        key = (types, opening, closing, several)
        if key not in self._made:
            words = {"types": _listed(types), "open": opening, "close": closing}
            parts = {
                heading: _filled(self.sections[section], words)
                for section, heading in SECTIONS.items()
                if section in self.sections and (section != "several" or several)
            }
            if self.examples:
                last = parts.popitem()
                shown = told(self.examples, dict(types), self.contract, (opening, closing))
                parts |= {"Examples": shown, last[0]: last[1]}
            self._made[key] = "\n\n".join(f"# {heading}\n{text}" for heading, text in parts.items())
        made: str = self._made[key]
        return made

    def _schema(self, types: tuple[tuple[str, str], ...], several: int) -> Mapping[str, Any]:
        """Return the reply's schema. It is made once and must not be changed."""
        key = (tuple(name for name, _ in types), several)
        if key not in self._made:
            phrases = {"type": "array", "items": {"type": "string"}}
            generic = {"type": "object", "additionalProperties": phrases}
            one = generic if self.generic else self._object({name: phrases for name, _ in types})
            self._made[key] = self._object({str(i + 1): one for i in range(several)}) if several else one
        made: Mapping[str, Any] = self._made[key]
        return made

    def _object(self, properties: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": properties,
            "additionalProperties": False,
            "required": list(properties) if self.contract == 1 else [],
        }


@cache
def shipped(agent: Agent = "extract") -> tuple[str, ...]:
    """Return the names of the prompts in this package, the oldest first."""
    folder = files("incognote.prompts").joinpath(agent)
    names = [entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml")]
    return tuple(f"{agent}/{name}" for name in sorted(names, key=lambda name: (len(name), name)))


def load(name: str) -> Prompt:
    """Load a shipped prompt by its name (`extract/v3`), or a TOML file: a whole prompt, or an overlay (`overlay`).

    Raises:
        UnknownName: no shipped prompt has the name.
        SettingError: the file cannot be read, lacks a section, or changes what an overlay may not.
    """
    if name in shipped():
        return _parsed(name, _toml(files("incognote.prompts").joinpath(f"{name}.toml").read_bytes()))
    if not name.endswith(".toml"):
        raise UnknownName("prompt", name, shipped())
    return _from_file(Path(name).expanduser(), ())


def _from_file(path: Path, above: tuple[Path, ...]) -> Prompt:
    """Load the prompt of a file, or apply the file's changes to another prompt.

    Args:
        above: the overlays of which it is a base.
    """
    try:
        place = path.resolve()
        written = _toml(path.read_bytes())
    except OSError:
        what = "the prompt file" if not above else "base: the prompt file that it names"
        raise SettingError(f"{what} cannot be read. Check `prompt` (--prompt).") from None
    if "base" not in written:
        return _parsed(path.stem, written)
    base = written["base"]
    if place in above:
        raise SettingError("base: the overlays refer to each other. One of them needs a shipped prompt as its base.")
    if isinstance(base, str) and base.endswith(".toml"):
        below = _from_file(path.parent / Path(base).expanduser(), (*above, place))
    elif isinstance(base, str):
        below = load(base)
    else:
        raise SettingError("base must be the name of a shipped prompt or the path of a prompt file.")
    over = changed(written, below.sections, below.guidelines, below.examples)
    _check(over.sections)
    languages = _languages(written["languages"]) if "languages" in written else below.languages
    return replace(below, name=path.stem, sections=over.sections, guidelines=over.guidelines, examples=over.examples,
                   languages=languages)  # fmt: skip


def _toml(raw: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(raw.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        raise SettingError("The prompt file is not TOML in UTF-8.") from None


def _parsed(name: str, written: Mapping[str, Any]) -> Prompt:
    several, optional = {"several", "several_input"}, {"context_awareness", "self_checklist"}
    needed = {*SECTIONS, "input"} - several - optional
    sections = {key: value.strip() for key, value in written.items() if isinstance(value, str)}
    if written.get("contract") not in (1, 2):
        raise SettingError("A prompt file needs contract = 1 or 2 (the format of the reply), or base for an overlay.")
    if set(sections) - optional not in (needed, needed | several):
        wrong = ", ".join(sorted((needed | several) ^ (set(sections) - optional)))
        raise SettingError(f"A prompt file must have exactly these texts: {', '.join(sorted(needed))}. Wrong: {wrong}.")
    _check(sections)
    languages = _languages(written.get("languages", ["en"]))
    return Prompt(name, written["contract"], sections, languages=languages, short=_short(written.get("short", {})))


def _short(written: object) -> dict[str, str]:
    if not isinstance(written, dict) or not all(isinstance(line, str) for line in written.values()):
        raise SettingError('short: write it as a table of types and lines, such as AGE = "a person\'s age".')
    if unknown := sorted(written.keys() - set(catalogue())):
        raise SettingError(f"short: there is no entity type {', '.join(unknown)}.")
    return {name: line.strip() for name, line in written.items()}


def _languages(written: object) -> tuple[str, ...]:
    if not isinstance(written, list) or not written or not set(map(str, written)) <= NAMES.keys():
        raise SettingError(f'languages must be a list of ISO 639-1 codes, such as ["en"]. Known: {", ".join(NAMES)}.')
    return tuple(sorted(set(map(str, written))))


def _check(sections: Mapping[str, str]) -> None:
    for key, value in sections.items():
        allowed = {"types", "open", "close"} | _INPUTS.get(key, set())
        template = Template(value)
        if not template.is_valid() or not set(template.get_identifiers()) <= allowed:
            raise SettingError(
                f"{key}: allowed placeholders are {', '.join('$' + a for a in sorted(allowed))}. Write $$ for a "
                "dollar sign."
            )
    if "$fence\n$text\n$fence" not in sections["input"]:
        raise SettingError("input must hold $text on a line of its own, between two lines $fence.")
    if "$texts" not in sections.get("several_input", "$texts"):
        raise SettingError("several_input must hold $texts.")


def _listed(types: tuple[tuple[str, str], ...]) -> str:
    """Return a line for each type. Types that need no explanation share the last line."""
    lines = [f"- {name}: {about}" for name, about in types if about]
    plain = ", ".join(name for name, about in types if not about)
    return "\n".join([*lines, f"- {plain}"] if plain else lines)


def _filled(section: str, words: Mapping[str, str]) -> str:
    return Template(section).substitute(words)


def asked(policy: Policy, short: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """Return the types that a policy lists and replaces, in its order, with their own line and those of finer types.

    A finer type that the policy does not list is asked for under its nearest listed ancestor. So the reply is short and
    uses the policy's types. All types of numbers are asked for as one if the policy's output is the same for all.

    Args:
        short: lines to use instead of the catalogue's (`Prompt.short`).
    """
    types = catalogue()
    listed = [name for name in policy.types if policy.replaces(name) and not types[name].pixels]
    as_one = dict.fromkeys(_alike(policy, listed), _ANY_NUMBER)
    lines = {name: [short.get(name, types[name].about)] for name in (as_one.get(each, each) for each in listed)}
    for name, entity in types.items():
        served = policy.serves(name)
        key = as_one.get(served or "", served)
        if served in listed and key is not None and name != key and not entity.pixels:
            lines[key].append(short.get(name, entity.about))
    return {name: _line(own, [line for line in finer if line]) for name, (own, *finer) in lines.items()}


def _line(own: str, finer: list[str]) -> str:
    return "; also: ".join(part for part in (own, "; ".join(finer)) if part)


def _alike(policy: Policy, listed: Sequence[str]) -> list[str]:
    """Return the listed types of numbers if the policy treats them alike and its output does not show the type."""
    numbers = [name for name in listed if catalogue()[name].group == "ID"]
    choices = [policy.types[name] for name in numbers]
    if _ANY_NUMBER not in numbers or any(choice != choices[0] for choice in choices):
        return []
    shown = choices[0].operator == "label" and not choices[0].params.get("name")
    return numbers if not shown and choices[0].operator in ("label", "same-length", "fixed-length") else []


@dataclass(frozen=True, slots=True)
class RelexPrompt:
    """One agent's instructions in one version."""

    name: str
    sections: Mapping[str, str] = field(repr=False)

    @property
    def version(self) -> str:
        """The first 16 hexadecimal digits of a SHA-256 over its sections."""
        return version_of(dict(self.sections))

    def messages(
        self, words: Mapping[str, str], material: Mapping[str, str], marks: tuple[str, str]
    ) -> tuple[str, str]:
        """Return the messages for a model: the system's and the user's.

        Args:
            words: our own words for placeholders of the instructions and of the input.
            material: words of notes, for placeholders of the input only, where they are inside the fence.
            marks: the marks around a mention. The material does not contain them otherwise.
        """
        told = {"open": marks[0], "close": marks[1], **words}
        inside = {name: sendable(text) for name, text in material.items()}
        line = fence("\n".join(inside.values()))
        system = "\n\n".join(
            f"# {heading}\n{Template(self.sections[name]).substitute(told)}" for name, heading in _HEADINGS.items()
        )
        user = Template(self.sections["input"]).substitute(told | inside | {"fence": line})
        return system, user


@cache
def relex_prompt(name: str) -> RelexPrompt:
    """Return a shipped prompt of an agent by its name (`relex/cluster/v1`).

    Raises:
        UnknownName: no prompt has that name.
    """
    known = relex_prompts()
    if name not in known:
        raise UnknownName("prompt of a relexicalizing agent", name, known)
    return RelexPrompt(name, sections_of(name))


def relex_prompts() -> list[str]:
    """Return the names of all prompts in this package."""
    return [each for agent in AGENTS for each in shipped(f"relex/{agent}")]
