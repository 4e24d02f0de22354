"""EXPLAIN as a page for a browser: one file that loads nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from importlib.resources import files
from typing import Any

from tvfsql.api.page.drawing import FIGURES, HEAD, LINE, WIDE


def page(title: str, queries: Iterable[dict[str, Any]], *, live: bool = False) -> str:
    """A page of queries, each in the form of `contents.query_data`. A `live` one asks its server for figures."""
    folder = files(__package__)
    style, script, body = ((folder / name).read_text("utf-8") for name in ("page.css", "page.js", "page.html"))
    if live:
        style, script = (
            text + (folder / f"live.{kind}").read_text("utf-8") for text, kind in ((style, "css"), (script, "js"))
        )
    card = {"wide": WIDE, "head": HEAD, "line": LINE, "figures": FIGURES}
    data = json.dumps({"title": title, "card": card, "queries": [*queries]}, ensure_ascii=False).replace("<", "\\u003c")
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escape(title)}</title>\n'
        f"<style>\n{style}</style>\n</head>\n<body>\n{body}"
        f'<script type="application/json" id="data">{data}</script>\n<script>\n{script}</script>\n</body>\n</html>'
    )


def waiting_page() -> str:
    """What a server shows before the first query is compiled: it loads itself again."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta http-equiv="refresh" content="1">\n'
        "<title>tvfsql</title>\n</head>\n<body><p>waiting for the first query</p></body>\n</html>"
    )
