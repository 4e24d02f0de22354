"""`tvfsql lsp`, asked by a real client over stdin and stdout."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

lsp = pytest.importorskip("lsprotocol.types", reason="pip install 'tvfsql[lsp]'")
from pygls.lsp.client import LanguageClient  # noqa: E402

TABLES = """-- the tables of the scripts
CREATE TABLE bid (bidtime TIMESTAMP(3), price DECIMAL(10, 2), item STRING,
WATERMARK FOR bidtime AS bidtime - INTERVAL '1' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'bid.csv', 'format' = 'csv');
CREATE TABLE totals (item STRING, total DECIMAL(38, 2))
WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://localhost/db', 'table-name' = 'totals', 'password' = 'hush-1');
"""


class Editor:
    """A client with one server. `ask` and `show` wait for the answers."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.folder, self.loop, self.client = folder, asyncio.new_event_loop(), LanguageClient("test", "1")
        self.published: asyncio.Queue[Any] = asyncio.Queue()
        self.told: list[str] = []
        self.version = 0
        self.client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: self.published.put_nowait(params))
        self.client.feature(lsp.WINDOW_SHOW_MESSAGE)(lambda params: self.told.append(params.message))
        self.ask(lambda: self._start(arguments))

    def ask(self, question: Callable[[], Awaitable[Any]]) -> Any:
        return self.loop.run_until_complete(asyncio.wait_for(question(), 120))

    async def _start(self, arguments: tuple[str, ...]) -> None:
        await self.client.start_io(sys.executable, "-m", "tvfsql", "lsp", *arguments)
        await self.client.initialize_async(lsp.InitializeParams(capabilities=lsp.ClientCapabilities()))
        self.client.initialized(lsp.InitializedParams())

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def open(self, text: str, name: str = "query.sql") -> list[Any]:
        """Show a script, and return its diagnostics."""
        self.version += 1
        item = lsp.TextDocumentItem(self.uri(name), "sql", self.version, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        return self._diagnostics()

    def _diagnostics(self) -> list[Any]:
        async def newest() -> list[Any]:
            while (found := await self.published.get()).version != self.version:
                pass
            return [*found.diagnostics]

        return self.ask(newest)

    def change(self, text: str, place: Any = None, name: str = "query.sql") -> list[Any]:
        """Put a text at a range, or in place of all."""
        self.version += 1
        whole = lsp.TextDocumentContentChangeWholeDocument(text)
        change = whole if place is None else lsp.TextDocumentContentChangePartial(place, text)
        document = lsp.VersionedTextDocumentIdentifier(self.version, self.uri(name))
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [change]))
        return self._diagnostics()

    def at(self, kind: Any, line: int, column: int, name: str = "query.sql") -> Any:
        return kind(lsp.TextDocumentIdentifier(self.uri(name)), lsp.Position(line, column))

    def hover(self, line: int, column: int) -> str:
        found = self.ask(lambda: self.client.text_document_hover_async(self.at(lsp.HoverParams, line, column)))
        return found.contents.value if found else ""

    def complete(self, line: int, column: int) -> list[Any]:
        question = self.at(lsp.CompletionParams, line, column)
        return [*self.ask(lambda: self.client.text_document_completion_async(question)).items]

    def definition(self, line: int, column: int) -> Any:
        question = self.at(lsp.DefinitionParams, line, column)
        return self.ask(lambda: self.client.text_document_definition_async(question))

    def format(self) -> Any:
        document, options = lsp.TextDocumentIdentifier(self.uri("query.sql")), lsp.FormattingOptions(2, True)
        params = lsp.DocumentFormattingParams(document, options)
        return self.ask(lambda: self.client.text_document_formatting_async(params))

    def actions(self, place: Any) -> dict[str, Any]:
        document = lsp.TextDocumentIdentifier(self.uri("query.sql"))
        params = lsp.CodeActionParams(document, place, lsp.CodeActionContext([]))
        found = self.ask(lambda: self.client.text_document_code_action_async(params))
        return {each.title: each.edit.changes[self.uri("query.sql")][0] for each in found}

    def close(self) -> None:
        async def end() -> None:
            await self.client.shutdown_async(None)
            self.client.exit(None)
            await self.client.stop()

        self.ask(end)
        self.loop.close()


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    folder = tmp_path_factory.mktemp("scripts")
    (folder / "tables.sql").write_text(TABLES)
    (folder / "loud.py").write_text(
        "print('this is not of the protocol')\n\n\ndef half(x: float) -> float: return x / 2\n"
    )
    editor = Editor(folder, "-i", str(folder / "tables.sql"), "--param", "day=2026-01-31")
    yield editor
    editor.close()


def span(start: tuple[int, int], end: tuple[int, int]) -> Any:
    return lsp.Range(lsp.Position(*start), lsp.Position(*end))


def told(diagnostics: list[Any], text: str) -> list[tuple[str, str, str | None]]:
    """(marked text, first line of the message, rule) of each."""
    lines = text.split("\n")
    found = []
    for each in diagnostics:
        assert each.range.start.line == each.range.end.line
        line = lines[each.range.start.line].encode("utf-16-le")
        marked = line[2 * each.range.start.character : 2 * each.range.end.character].decode("utf-16-le")
        found.append((marked, each.message, each.code))
    return found


def test_every_statement_tells_its_own_error_and_the_rest_is_linted(editor: Editor) -> None:
    text = (
        "SELECT itme FROM bid;\r\n"
        "CREATE VIEW 🙂late AS SELECT * FROM bid;\r\n"
        "CREATE VIEW gone AS SELECT prise FROM bid;\r\n"
        "SELECT * FROM gone;\r\n"
        "SELECT '🙂', pri FROM bid;\r\n"
        "SELECT item FROM bid WHERE price = NULL;\r\n"
        "SELEC 1"
    )
    found = told(editor.open(text), text)
    assert [(marked, message.partition("\n")[0]) for marked, message, rule in found if rule is None] == [
        ("itme", "table bid has no column itme"),
        ("🙂", "unexpected 🙂"),
        ("prise", "table bid has no column prise"),
        ("pri", "table bid has no column pri"),
        ("SELEC", "unexpected SELEC"),
    ]


def test_warnings_name_their_rule_and_can_be_silenced(editor: Editor) -> None:
    text = "SELECT item\nFROM bid\n  WHERE price = NULL"
    (warning,) = editor.open(text)
    assert (warning.severity, warning.source) == (lsp.DiagnosticSeverity.Warning, "tvfsql")
    ((title, edit),) = editor.actions(warning.range).items()
    assert title == f"Ignore {warning.code} here"
    assert edit.new_text == f"  -- lint: ignore {warning.code}\n"
    assert editor.change(edit.new_text, edit.range) == []


def test_a_hint_can_be_taken(editor: Editor) -> None:
    (error,) = editor.open("SELECT '🙂', itme FROM bid")
    assert error.message.endswith("\nhint: did you mean item?")
    ((title, edit),) = editor.actions(error.range).items()
    assert title == "Write item"
    assert editor.change(edit.new_text, edit.range) == []


def test_hover_tells_types(editor: Editor) -> None:
    editor.open(
        "DECLARE day DATE;\n"
        "CREATE FUNCTION half AS 'loud.half' LANGUAGE PYTHON;\n"
        "SELECT window_start, item, SUM(price) AS total, half(1), UPPER(b.item)\n"
        "FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' DAY)) b WHERE bidtime > :day\n"
        "GROUP BY window_start, window_end, item;\n"
        "INSERT INTO totals SELECT item, price FROM bid"
    )
    assert editor.hover(2, 8) == "```sql\nwindow_start TIMESTAMP(3) of the window\n```"
    assert editor.hover(2, 23) == "```sql\nitem STRING of bid\n```"
    assert editor.hover(2, 30) == "```sql\nSUM(x)\n```"
    assert editor.hover(2, 42) == "```sql\ntotal DECIMAL(38, 2) of the result\n```"
    assert editor.hover(2, 50) == "```sql\nhalf(...) DOUBLE\n```\n\nthe Python function `loud.half`"
    assert editor.hover(2, 60) == "```sql\nUPPER(string)\n```"
    assert editor.hover(3, 12).startswith("```sql\nTUMBLE(TABLE t, DESCRIPTOR(ts)")
    assert "price DECIMAL(10, 2),\n" in editor.hover(3, 25)
    assert editor.hover(3, 90) == "```sql\n:day = DATE '2026-01-31'\n```"
    assert "'password' = '******'" in editor.hover(5, 14)
    assert editor.hover(4, 2) == ""


def test_completion_is_that_of_the_shell(editor: Editor) -> None:
    editor.open("DECLARE day DATE;\nSELECT '🙂', pr")
    (price,) = [each for each in editor.complete(1, 14) if each.filter_text == "price"]
    assert (price.detail, price.text_edit) == (
        "DECIMAL(10, 2) of bid",
        lsp.TextEdit(span((1, 13), (1, 15)), "price"),
    ) or price.text_edit.range.end.character == 14
    editor.change("DECLARE day DATE;\nSELECT * FROM bid WHERE item = :d")
    assert [each.label for each in editor.complete(1, 33)] == ["day"]
    editor.change("SELECT * FROM TABLE(HO")
    (hop,) = editor.complete(0, 22)
    assert (hop.label, hop.text_edit.new_text) == (
        "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '10' MINUTE)",
        "HOP(",
    )
    editor.change("CREATE TABLE t (a INT) WITH ('path' = 'tab")
    assert [each.label for each in editor.complete(0, 42)] == ["tables.sql"]


def test_the_definition_is_found_here_or_in_a_script_before_it(editor: Editor) -> None:
    editor.open("CREATE VIEW IF NOT EXISTS dear AS SELECT * FROM bid;\nSELECT * FROM dear")
    here, there = editor.definition(1, 16), editor.definition(0, 49)
    assert (here.uri, here.range) == (editor.uri("query.sql"), span((0, 26), (0, 30)))
    assert (there.uri, there.range) == (editor.uri("tables.sql"), span((1, 13), (1, 16)))
    assert editor.definition(0, 2) is None


def test_a_script_of_the_tables_itself_can_be_edited(editor: Editor) -> None:
    assert editor.open(TABLES, "tables.sql") == []
    changed = TABLES.replace("item STRING,", "thing STRING,", 1)
    (editor.folder / "tables.sql").write_text(changed)
    (error,) = editor.open("SELECT item FROM bid")
    assert error.message.startswith("table bid has no column item")
    (editor.folder / "tables.sql").write_text("CREATE TABEL bid (a INT)")
    editor.open("SELECT 1")
    assert "unexpected TABEL" in editor.told[-1]
    (editor.folder / "tables.sql").write_text(TABLES)
    assert editor.open("SELECT item FROM bid") == []


def test_the_layout_is_that_of_fmt_and_a_script_with_an_error_keeps_its_own(editor: Editor) -> None:
    editor.open("select item,price\nfrom bid\nwhere price>1")
    (edit,) = editor.format()
    assert edit.new_text == "SELECT item, price FROM bid WHERE price > 1\n"
    assert edit.range == span((0, 0), (2, 13))
    assert editor.change(edit.new_text, edit.range) == []
    assert [*editor.format()] == []
    editor.change("select ( from bid")
    assert editor.format() is None


def test_the_command_line_does_not_load_the_server_and_says_what_it_needs() -> None:
    loads = "import sys, tvfsql.cli; print('pygls' in sys.modules, 'tvfsql.language_server' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", loads], text=True) == "False False\n"
    missing = (
        "import sys; sys.modules['pygls'] = sys.modules['lsprotocol'] = None\n"
        "import tvfsql.cli; sys.exit(tvfsql.cli.main(['lsp']))"
    )
    done = subprocess.run([sys.executable, "-c", missing], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "error: the language server needs a Python package\nhint: pip install 'tvfsql[lsp]'\n"
