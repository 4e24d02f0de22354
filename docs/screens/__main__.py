"""Makes the pictures of what a person touches: `python docs/screens [NAME ...]` (`make screens`).

Needs tmux and Chromium. They show real runs, so they differ a little each time: no test compares them.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

from terminal import Terminal, picture

import tvfsql

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"
WIDTHS = (1000, 1440, 1900)
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
LIVE = """CREATE TABLE bid (auction BIGINT, price BIGINT, `dateTime` TIMESTAMP(3),
    WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '4' SECOND)
WITH ('connector' = 'nexmark', 'nexmark.table' = 'bid', 'first-event.rate' = '500', 'disorder' = '5 s',
    'start-time' = '{now}');
SELECT window_start, window_end, COUNT(*) AS bids, MAX(price) AS highest
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '5' SECOND, INTERVAL '20' SECOND))
GROUP BY window_start, window_end;
"""
STREAM = """SELECT window_end, auction % 4 AS part, COUNT(*) AS bids, MAX(price) AS highest FROM TABLE(TUMBLE(TABLE bid,
DESCRIPTOR(`dateTime`), INTERVAL '5' SECOND)) GROUP BY window_start, window_end, auction % 4;"""


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")


@contextmanager
def opened(address: str, width: int, height: int) -> Iterator[Any]:
    """A page of Chromium."""
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, CHROMIUM)))
    with sync_playwright() as driver:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
        browser = driver.chromium.launch(executable_path=path, args=arguments)
        page = browser.new_page(viewport={"width": width, "height": height})
        page.goto(address)
        yield page
        browser.close()


def plan() -> None:
    """The page of EXPLAIN ANALYZE."""
    command = [sys.executable, "-m", "tvfsql", "explain", "--analyze", "--format", "html"]
    done = subprocess.run([*command, "sliding_day.sql"], check=True, capture_output=True, text=True, cwd=EXAMPLES)
    with tempfile.NamedTemporaryFile("w", suffix=".html") as file:
        file.write(done.stdout)
        file.flush()
        with opened(f"file://{file.name}", WIDTHS[0], 1100) as page:
            page.locator("g.node", has_text="GlobalWindowAggregate").click()
            _taken(page, "plan")


def _taken(page: Any, name: str) -> None:
    """A picture of the page at each width, and a dark one: NAME-WIDTH.png, NAME-dark.png."""
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 1100})
        page.screenshot(path=HERE / f"{name}-{width}.png")
    page.set_viewport_size({"width": WIDTHS[1], "height": 1100})
    page.keyboard.press("d")
    page.screenshot(path=HERE / f"{name}-dark.png")


def live() -> None:
    """The page of `run --ui`."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "bids.sql").write_text(LIVE.format(now=now()))
        command = [sys.executable, "-m", "tvfsql", "run", "--ui", "--mode", "streaming", "bids.sql"]
        run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=folder)
        try:
            assert run.stderr is not None
            address = next(filter(None, (re.search(r"http://\S+", line) for line in run.stderr)))[0]
            with opened(address, WIDTHS[0], 1100) as page:
                page.locator("#live tbody tr:nth-child(12)").wait_for(state="attached", timeout=600_000)
                _taken(page, "live")
        finally:
            run.terminate()
            run.communicate()


def notebook() -> None:
    """The first results of the example notebook. Its cells are drawn here, since JupyterLab is not installed."""
    import nbclient
    import nbformat

    book: Any = nbformat.read(EXAMPLES / "flights.ipynb", as_version=4)
    where = {"metadata": {"path": str(EXAMPLES)}}
    nbclient.NotebookClient(book, timeout=900, kernel_name="python3", resources=where).execute()
    style = (
        "body{font:15px system-ui;margin:14px 24px;width:850px} pre{white-space:pre-wrap;margin:6px 0;font-size:13px}"
    )
    style += (
        " .in{background:#f4f6f8;border:1px solid #d5d8dd;border-radius:4px;padding:2px 10px} .out{padding:2px 10px}"
    )
    cells = "".join(map(_cell, [cell for cell in book.cells if cell.cell_type == "code"][3:]))
    with tempfile.NamedTemporaryFile("w", suffix=".html") as file:
        file.write(f"<meta charset=utf-8><style>{style}</style>{cells}")
        file.flush()
        with opened(f"file://{file.name}", 900, 900) as page:
            page.screenshot(path=HERE / "notebook.png")


def _cell(cell: Any) -> str:
    shown = [f'<pre class="in">{escape(cell.source)}</pre>']
    for output in cell.outputs:
        data = output.get("data", {})
        text = data.get("text/html") or f"<pre>{escape(data.get('text/plain') or output.get('text', ''))}</pre>"
        shown.append(f'<div class="out">{text}</div>')
    return "".join(shown)


def shell() -> None:
    """A still and a film of the shell."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "flights.sql").write_text(
            (EXAMPLES / "flights.sql").read_text().replace("'data/", f"'{EXAMPLES}/data/")
        )
        (Path(folder) / "bid.sql").write_text(LIVE.partition("SELECT")[0].format(now=now()))
        (Path(folder) / ".config/tvfsql").mkdir(parents=True)
        (Path(folder) / ".config/tvfsql/shellrc").write_text("\\timing off\n")  # this machine may be busy
        terminal = Terminal(Path(folder), Path(folder))
        try:
            film = _film(terminal)
        finally:
            terminal.close()
    (HERE / "shell.svg").write_text(picture([film[0]]), encoding="utf-8")
    (HERE / "shell-film.svg").write_text(picture(film[1]), encoding="utf-8")


def _film(terminal: Terminal) -> tuple[tuple[str, float], list[tuple[str, float]]]:
    frames = [(terminal.until("Spark runs"), 1.0)]

    def typed(text: str, seconds: float = 1.2) -> None:
        terminal.type(text)
        frames.append((terminal.screen(), seconds))

    def answered(text: str, seconds: float, more: float = 1.0) -> tuple[str, float]:
        terminal.type("Enter", literally=False)
        frames.append((terminal.until(text, more), seconds))
        return frames[-1]

    typed("\\i flights.sql")
    answered("created table flights", 1.0)
    typed("SELECT window_end, origin, COUNT(*) - COUNT(dep_time) AS cancelled FROM TABLE(TUM", 1.5)
    terminal.type("BLE(TABLE flights, DESCRIPTOR(sched_dep), INTERVAL '1' DAY)) ")
    typed("GROUP BY window_start, window_end, origin ORDER BY cancelled DESC LIMIT 6;")
    still = answered("6 rows", 4.0)
    typed("SELECT carrier, orign FROM flights;")
    answered("did you mean", 3.0)
    typed("\\i bid.sql")
    answered("created table bid", 1.0)
    terminal.type("\\clear")
    terminal.type("Enter", literally=False)
    typed(" ".join(STREAM.split()))
    answered("q stop", 1.5)
    for _ in range(3):
        frames.append((terminal.until(r"^[1-9][\d,]* rows, by window_end", 5.0), 2.0))
    terminal.type("q")
    frames.append((terminal.until("tvfsql>", 2.0), 2.5))
    return still, frames


MADE = {each.__name__: each for each in (plan, live, notebook, shell)}

if __name__ == "__main__":
    assert tvfsql.__file__
    for name in sys.argv[1:] or MADE:
        print(name)
        MADE[name]()
