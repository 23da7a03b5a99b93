"""An MCP server over standard input and output, for `incognote mcp`: the tools deidentify, detect and explain.

The client is usually a language model beyond this machine, so no answer holds a word of an original: only released
text, offsets, entity types and reasons. Errors and logs hold no value of a request.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from incognote.agents.item import item_of
from incognote.errors import IncognoteError, MissingExtra, UsageError
from incognote.files.inputs import read
from incognote.files.sources import find
from incognote.nouns import Reason, Result, Verdict
from incognote.reasons import reason_texts
from incognote.schemas.catalogue import catalogue
from incognote.sdk import Deidentifier

try:
    from mcp.server import Server
    from mcp.server.stdio import stdio_server
    from mcp.types import CallToolResult, ListToolsResult, TextContent, Tool, ToolAnnotations
except ImportError:
    raise MissingExtra("mcp", "the MCP server") from None

MOST = 100
"""Records of one file that a call answers."""
_INSTRUCTIONS = (
    "De-identify clinical text before you quote, store or send it. A record whose verdict is not `release` has no "
    "text: report its reasons and do not ask for the original."
)
_ABOUT = {
    "deidentify": "De-identify a clinical text, or a file by its path. Returns the verdict and, if it is `release`, "
    "the de-identified text.",
    "detect": "Find identifiers in a clinical text, or in a file by its path. Returns offsets (Unicode code points) "
    "and types, never the words.",
    "explain": "Say why each identifier of a text or file is replaced: its type, its HIPAA letter, the detectors that "
    "found it, the operator, and what to do about a record that is held.",
}
_ARGUMENTS = {
    "text": "The text. Give either `text` or `path`.",
    "path": "A file on the server's machine, in a folder that the operator has allowed.",
}


class McpTools:
    """What the tools do, apart from the protocol.

    Args:
        deidentifier: policy and detectors; the caller closes it.
        roots: folders whose files may be named by `path`; none: no file may.
    """

    def __init__(self, deidentifier: Deidentifier, roots: Sequence[Path]) -> None:
        self._deidentifier = deidentifier
        self._roots = [Path(os.path.realpath(root)) for root in roots]

    def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The answer of a tool, JSON-able.

        Raises:
            UsageError: no such tool, a wrong argument, or a path outside the roots.
        """
        if tool not in _ABOUT:
            raise UsageError(f"unknown tool. Use one of: {', '.join(_ABOUT)}")
        if set(arguments) not in ({"text"}, {"path"}) or not isinstance(next(iter(arguments.values())), str):
            raise UsageError("pass exactly one argument, text or path, as a string")
        if "text" in arguments:
            return self._shown(tool, self._deidentifier.deidentify(arguments["text"]))
        results = list(islice(self._of_file(self._file(arguments["path"])), MOST + 1))
        records = [{"record": number, **self._shown(tool, each)} for number, each in enumerate(results[:MOST], 1)]
        return {"records": records, "more": len(results) > MOST}

    def _file(self, path: str) -> Path:
        """The file, links followed; the error is the same whether it is missing or lies outside."""
        for root in self._roots:
            with suppress(OSError, ValueError):  # not a path: too long, or characters that no name can have
                file = Path(os.path.realpath(root / path))
                if file.is_file() and any(file.is_relative_to(allowed) for allowed in self._roots):
                    return file
        raise UsageError("path: no such file in a folder that the server may read (incognote mcp --root FOLDER)")

    def _of_file(self, file: Path) -> Iterator[Result]:
        engine = self._deidentifier.engine
        for one in (one for source in find([str(file)]).files for one in read(source)):
            if one.error is not None:
                yield Result(None, Verdict("quarantine", (one.error,)), {})
            else:
                yield self._deidentifier.deidentify(item_of(one, engine))

    def _shown(self, tool: str, result: Result) -> dict[str, Any]:
        shown: dict[str, Any] = {"verdict": result.verdict.outcome}
        if result.verdict.reasons:
            shown["reasons"] = [self._reason(tool, reason) for reason in result.verdict.reasons]
        if tool == "deidentify":
            if result.verdict.released:
                shown["text"] = result.data.decode("utf-8", "replace")
            return shown
        spans = [(each.span, each.operator) for each in result.replacements] + [(span, "keep") for span in result.kept]
        shown["spans"] = []
        for span, operator in sorted(spans, key=lambda pair: (pair[0].field, pair[0].start)):
            one = {"field": span.field, "start": span.start, "end": span.end, "type": span.type}
            one["score"] = round(span.score, 4)
            if tool == "explain":
                listed = catalogue()[span.type]
                one |= {"about": listed.about, "hipaa": listed.hipaa, "operator": operator, "found_by": span.sources}
            shown["spans"].append(one)
        return shown

    @staticmethod
    def _reason(tool: str, reason: Reason) -> dict[str, str]:
        shown = {"code": reason.code, "field": reason.field, "detail": reason.detail}
        texts = reason_texts()
        if tool == "explain" and reason.code in texts:
            shown |= {"meaning": texts[reason.code].means, "what_to_do": texts[reason.code].next}
        return {name: value for name, value in shown.items() if value}


def serve(tools: McpTools, version: str) -> None:
    """Serve on standard input and output until the client closes them."""
    logging.getLogger("mcp").addHandler(logging.NullHandler())
    logging.getLogger("mcp").propagate = False  # its messages can quote what a client sent
    asyncio.run(_serve(tools, version))


async def _serve(tools: McpTools, version: str) -> None:
    async def list_tools(_: Any, __: Any) -> ListToolsResult:
        return ListToolsResult(tools=[_tool(name) for name in _ABOUT])

    async def call_tool(_: Any, params: Any) -> CallToolResult:
        try:
            answer = await asyncio.to_thread(tools.call, params.name, params.arguments or {})
        except IncognoteError as error:
            return CallToolResult(content=[TextContent(type="text", text=str(error))], is_error=True)
        except Exception as bug:  # its message may quote the text
            fault = f"unexpected {type(bug).__name__} in incognote. Nothing was released"
            return CallToolResult(content=[TextContent(type="text", text=fault)], is_error=True)
        written = TextContent(type="text", text=json.dumps(answer, ensure_ascii=False))
        return CallToolResult(content=[written], structured_content=answer)

    server = Server(
        "incognote", version=version, instructions=_INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool
    )
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def _tool(name: str) -> Tool:
    properties = {argument: {"type": "string", "description": about} for argument, about in _ARGUMENTS.items()}
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    notes = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
    return Tool(name=name, description=_ABOUT[name], input_schema=schema, annotations=notes)
