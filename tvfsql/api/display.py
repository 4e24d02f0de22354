"""Displays values of the API in a notebook or REPL: short, limited in size, and safe as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from tvfsql.catalog import Catalog, Table, View
from tvfsql.plan.values.spark_types import of_spark
from tvfsql.plan.values.types import is_number

ROWS = 50  # the most rows of a table in a notebook
COLUMNS = 30
LETTERS = 500  # the most characters of a cell
WORDS = 8  # the most columns named on one line

_TABLE = "border-collapse:collapse;font-size:90%"
_TYPE = "font-weight:normal;opacity:.6;font-size:85%"
_NULL = '<i style="opacity:.5">NULL</i>'


def short_columns(columns: Sequence[tuple[str, str]]) -> str:
    """`item STRING, total BIGINT`; if there are many columns, the first few and the total number."""
    named = ", ".join(f"{name} {of_spark(kind).flink if kind else '?'}" for name, kind in columns[:WORDS])
    return f"{named}, ... ({len(columns)} columns)" if len(columns) > WORDS else named


def html_table(
    columns: Sequence[tuple[str, str]], rows: Iterable[Sequence[str | None]], note: str = "", *, limit: int = ROWS
) -> str:
    """A table with types below the column names, limited to the first `limit` rows and the first `COLUMNS` columns."""
    width = min(len(columns), COLUMNS)
    types = [of_spark(kind) for _, kind in columns[:width]]
    heads = "".join(
        f'<th style="text-align:left">{escape(name)}<br><span style="{_TYPE}">{escape(kind.flink) if kind else ""}'
        "</span></th>"
        for (name, _), kind in zip(columns, types, strict=False)
    )
    aligns = ["right" if is_number(kind) else "left" for kind in types]
    lines: list[str] = []
    more = False
    for row in rows:
        if len(lines) == limit:
            more = True
            break
        cells = zip(row[:width], aligns, strict=True)
        lines.append("".join(f'<td style="text-align:{align}">{_cell(value)}</td>' for value, align in cells))
    notes = [f"the first {limit} rows" if more else f"{len(lines)} row{'s' if len(lines) != 1 else ''}"]
    notes += [f"{len(columns) - width} more columns"] if len(columns) > width else []
    notes += [note] if note else []
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return (
        f'<table style="{_TABLE}"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>'
        f"<small>{escape('; '.join(notes))}</small>"
    )


def _cell(value: str | None) -> str:
    if value is None:
        return _NULL
    return escape(value if len(value) <= LETTERS else value[:LETTERS] + " ...")


def html_catalog(title: str, catalog: Catalog) -> str:
    """The tables and views of a catalog with their columns."""
    rows = [
        (name, type(entry).__name__.lower(), short_columns(_columns(entry)))
        for name, entry in sorted(catalog.entries.items())
    ]
    return preformatted(title) + html_table([(name, "") for name in ("name", "kind", "columns")], rows)


def _columns(entry: Table | View) -> list[tuple[str, str]]:
    if isinstance(entry, Table):
        return [(column.name, column.type.spark) for column in entry.visible]
    return [(part.name, part.type.spark) for part in entry.fields]


def folded(title: str, texts: Mapping[str, str], picture: str = "") -> str:
    """A title, a picture as HTML, and collapsed texts below them."""
    parts = "".join(
        f"<details><summary>{escape(name)}</summary><pre>{escape(text)}</pre></details>" for name, text in texts.items()
    )
    return f"<div>{f'<code>{escape(title)}</code>' if title else ''}{picture}{parts}</div>"


def preformatted(text: str) -> str:
    """A text with its line breaks and spaces."""
    return f"<pre>{escape(text)}</pre>"
