"""The language server: the protocol's messages, answered from readings of the open scripts."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path
from pygls.workspace import PositionCodec

from tvfsql.api import Session
from tvfsql.api.script import Script
from tvfsql.errors import Span, TvfSqlError
from tvfsql.language_server.reading import Definition, Reading, definitions, read
from tvfsql.shell.completion import Candidate
from tvfsql.syntax.layout import format_script
from tvfsql.syntax.parameters import Parameters

PAUSE = 0.2  # seconds without a change after which a script is read
KINDS = {
    "table": lsp.CompletionItemKind.Struct,
    "view": lsp.CompletionItemKind.Interface,
    "keyword": lsp.CompletionItemKind.Keyword,
    "statement": lsp.CompletionItemKind.Keyword,
    "file": lsp.CompletionItemKind.File,
    "parameter": lsp.CompletionItemKind.Variable,
}


@dataclass(frozen=True)
class Places:
    """Converts between characters of a text and positions of the protocol, whose columns count in units of `codec`."""

    text: str
    codec: PositionCodec

    def range(self, span: Span) -> lsp.Range:
        return lsp.Range(self._position(span.start), self._position(span.end))

    def _position(self, offset: int) -> lsp.Position:
        offset = min(offset, len(self.text))
        start = self.text.rfind("\n", 0, offset) + 1
        return lsp.Position(
            self.text.count("\n", 0, offset), self.codec.client_num_units(self.text[start:offset].rstrip("\r"))
        )

    def offset(self, position: lsp.Position) -> int:
        start = 0
        for _ in range(position.line):
            start = (self.text.find("\n", start) + 1) or len(self.text)
        line = self.text[start:].partition("\n")[0]
        units = 0
        for i, char in enumerate(line):
            if units >= position.character:
                return start + i
            units += self.codec.client_num_units(char)
        return start + len(line)


@dataclass
class Base:
    """What a script builds on: the scripts of -i, whose `definitions` (by file) it can use."""

    session: Session
    definitions: list[tuple[str, Definition, str]] = field(default_factory=list)  # file, definition, text
    modified: tuple[float, ...] = ()


class Server(LanguageServer):
    """`open_session` makes a session in which the given scripts of -i have run, `init` are their names."""

    def __init__(self, open_session: Callable[[Sequence[str]], Session], init: Sequence[str]) -> None:
        super().__init__("tvfsql", metadata.version("tvfsql"), lsp.TextDocumentSyncKind.Incremental)
        self.open_session, self.init = open_session, tuple(init)
        self.readings: dict[str, Reading] = {}
        self.bases: dict[str, Base] = {}
        self.versions: dict[str, int] = {}
        self.told = ""  # the last error in a script of -i that was shown
        self.reads = asyncio.Lock()

    def base(self, path: str) -> Base:
        """What the script of that name builds on: the scripts of -i up to itself. Read again after they change.

        Raises TvfSqlError for an error in them.
        """
        before = [*self.init]
        for i, name in enumerate(self.init):
            if path and os.path.abspath(name) == os.path.abspath(path):
                before = [*self.init[:i]]
        modified = tuple(os.stat(name).st_mtime if os.path.exists(name) else 0 for name in before)
        known = self.bases.get(path)
        if known is None or known.modified != modified:
            known = Base(self.open_session(before), modified=modified)
            for name in before:
                text = Path(name).read_bytes().decode()
                known.definitions += [(os.path.abspath(name), each, text) for each in definitions(text)]
            self.bases[path] = known
        return known

    def read(self, uri: str) -> Reading:
        """Read an open script as it is now."""
        document = self.workspace.get_text_document(uri)
        path = document.path if uri.startswith("file:") else ""
        try:
            base = self.base(path)
        except TvfSqlError as error:
            if str(error) != self.told:
                self.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Error, str(error)))
            self.told = str(error)
            base = self.bases.setdefault(path, Base(self.open_session(())))
        else:
            self.told = ""
        start = base.session.script
        folder = os.path.dirname(path)

        def fresh() -> Script:
            parameters = Parameters(start.parameters.given, {**start.parameters.declared}, examples=True)
            return replace(start, catalog=start.catalog.copy(), parameters=parameters, folder=folder)

        session = Session(mode=start.mode)
        return read(document.source, session, fresh, path or None)

    def places(self, text: str) -> Places:
        return Places(text, self.workspace.position_codec)

    async def tell(self, uri: str, version: int | None, pause: float = 0) -> None:
        """Read a script and publish its problems, unless it changes meanwhile."""
        self.versions[uri] = version or 0
        await asyncio.sleep(pause)
        async with self.reads:
            if self.versions.get(uri) != (version or 0):
                return
            reading = await asyncio.to_thread(self.read, uri)
        if self.versions.get(uri) != (version or 0):
            return
        self.readings[uri] = reading
        places = self.places(reading.text)
        found = [
            lsp.Diagnostic(
                places.range(each.span),
                each.message + (f"\nhint: {each.hint}" if each.hint else ""),
                severity=lsp.DiagnosticSeverity.Warning if each.rule else lsp.DiagnosticSeverity.Error,
                code=each.rule,
                source="tvfsql",
            )
            for each in reading.problems
        ]
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, found, version))

    def now(self, uri: str) -> Reading:
        """The text as it is now, over the session of its last reading, which may be older."""
        text = self.workspace.get_text_document(uri).source
        if uri not in self.readings:
            self.readings[uri] = self.read(uri)
        return replace(self.readings[uri], text=text)


def serve(open_session: Callable[[Sequence[str]], Session], init: Sequence[str]) -> None:
    """Answer a client on stdin and stdout until it says exit. What scripts print goes to stderr."""
    stdout, sys.stdout = sys.stdout, sys.stderr
    _server(open_session, init).start_io(sys.stdin.buffer, stdout.buffer)


def _server(open_session: Callable[[Sequence[str]], Session], init: Sequence[str]) -> Server:
    server = Server(open_session, init)

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        await server.tell(params.text_document.uri, params.text_document.version)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        await server.tell(params.text_document.uri, params.text_document.version, PAUSE)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        for uri, version in [*server.versions.items()]:  # one may build on the saved one
            await server.tell(uri, version)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        for known in (server.readings, server.versions):
            known.pop(uri, None)
        server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))

    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=[".", "'", ":", "("]))
    def complete(params: lsp.CompletionParams) -> lsp.CompletionList:
        reading, at = _at(params)
        places = server.places(reading.text)
        items = [
            _item(each, i, places.range(Span(at - each.length, at))) for i, each in enumerate(reading.completions(at))
        ]
        return lsp.CompletionList(is_incomplete=True, items=items)

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        reading, at = _at(params)
        found = reading.about(at)
        if found is None:
            return None
        text = lsp.MarkupContent(lsp.MarkupKind.Markdown, found[1])
        return lsp.Hover(text, server.places(reading.text).range(found[0]))

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def definition(params: lsp.DefinitionParams) -> lsp.Location | None:
        reading, at = _at(params)
        uri, name = params.text_document.uri, reading.word(at)
        if name is None:
            return None
        if found := reading.defined(name):
            return lsp.Location(uri, server.places(reading.text).range(found.span))
        path = server.workspace.get_text_document(uri).path if uri.startswith("file:") else ""
        for file, each, text in reversed(server.bases[path].definitions if path in server.bases else []):
            if each.name.lower() == name.lower():
                return lsp.Location(from_fs_path(file) or "", server.places(text).range(each.span))
        return None

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def formatting(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
        text = server.workspace.get_text_document(params.text_document.uri).source
        try:
            formatted = format_script(text)
        except TvfSqlError:  # which the diagnostics show
            return None
        if formatted == text:
            return []
        return [lsp.TextEdit(server.places(text).range(Span(0, len(text))), formatted)]

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix]))
    def actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri = params.text_document.uri
        reading = server.readings.get(uri)
        if reading is None or reading.text != server.workspace.get_text_document(uri).source:
            return []  # it is being read
        places = server.places(reading.text)
        span = Span(places.offset(params.range.start), places.offset(params.range.end))
        return [
            lsp.CodeAction(
                edit.title,
                kind=lsp.CodeActionKind.QuickFix,
                edit=lsp.WorkspaceEdit({uri: [lsp.TextEdit(places.range(edit.span), edit.text)]}),
            )
            for _, edit in reading.edits(span)
        ]

    def _at(
        params: lsp.CompletionParams | lsp.HoverParams | lsp.DefinitionParams,
    ) -> tuple[Reading, int]:
        reading = server.now(params.text_document.uri)
        return reading, server.places(reading.text).offset(params.position)

    return server


def _item(each: Candidate, number: int, place: lsp.Range) -> lsp.CompletionItem:
    kind = lsp.CompletionItemKind.Function if each.text.endswith(("(", "()")) else None
    return lsp.CompletionItem(
        each.shown or each.text,
        kind=kind or KINDS.get(each.about, lsp.CompletionItemKind.Field),
        detail=each.about or None,
        sort_text=f"{number:04}",
        filter_text=each.text,
        text_edit=lsp.TextEdit(place, each.text),
    )
