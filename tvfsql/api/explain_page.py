"""EXPLAIN as an HTML page: a single file that uses no scripts and loads nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tvfsql.plan.node import Node
    from tvfsql.planner.engine import Step

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: #222; }
pre { background: #f6f6f4; padding: .7rem 1rem; overflow-x: auto; font-size: 13px; line-height: 1.4; }
summary { cursor: pointer; font-weight: 600; padding: .3rem 0; }
details details { margin-left: 1rem; } details details summary { font-weight: 400; }
ul.plan, ul.plan ul { list-style: none; margin: 0; padding-left: 1.4rem; border-left: 1px solid #ccc; }
ul.plan { padding-left: .4rem; border: 0; } ul.plan li { margin: .35rem 0; }
.part { display: block; color: #555; font-size: 13px; font-family: ui-monospace, monospace; padding-left: 1rem; }
.del { color: #a12622; } .add { color: #1d6b2a; }
"""


def page(title: str, queries: Iterable[tuple[str, Mapping[str, str]]]) -> str:
    """A page of queries: for each its SQL, and its stages as (title, HTML)."""
    parts = "\n".join(_query(sql, stages) for sql, stages in queries)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n<title>{escape(title)}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n{parts}\n</body>\n</html>"
    )


def text(lines: str) -> str:
    """Preformatted text."""
    return f"<pre>{escape(lines)}</pre>"


def plan(node: Node) -> str:
    """A plan as a tree, the result at the top; each operator with its details."""
    return f'<ul class="plan">{_operator(node)}</ul>'


def steps(taken: Iterable[Step]) -> str:
    """The change that each rule made; each can be expanded."""
    shown = "\n".join(
        f"<details><summary>{escape(step.phase)}: <b>{escape(step.rule)}</b></summary>"
        f"<pre>{_coloured(step.diff())}</pre></details>"
        for step in taken
    )
    return shown or "<p>no rule applied</p>"


def _query(sql: str, stages: Mapping[str, str]) -> str:
    opened = "\n".join(
        f'<details open=""><summary>{escape(title)}</summary>\n{shown}\n</details>' for title, shown in stages.items()
    )
    return f"<section>\n{text(sql)}\n{opened}\n</section>"


def _operator(node: Node) -> str:
    name = escape(node.label().partition("(")[0])
    parts = "".join(f'<span class="part">{escape(key)}: {escape(value)}</span>' for key, value in node.details())
    below = "".join(map(_operator, node.children))
    return f"<li><b>{name}</b>{parts}{f'<ul>{below}</ul>' if below else ''}</li>"


def _coloured(diff: str) -> str:
    kinds = {"-": "del", "+": "add"}
    lines = ((kinds.get(line[:1]), escape(line)) for line in diff.splitlines())
    return "\n".join(f'<span class="{kind}">{line}</span>' if kind else line for kind, line in lines)
