"""EXPLAIN: the physical plan of compiled queries in words, or any stage, as text, JSON, a Mermaid diagram or a page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tvfsql.api.page.drawing import in_order_of_rows
from tvfsql.api.program import Program, Stages, streams_of
from tvfsql.errors import BindError, OptionError, did_you_mean
from tvfsql.physical.kinds import kind_of
from tvfsql.physical.sentences import sentence
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Sink
from tvfsql.plan.plan_text import tree
from tvfsql.secrets import without
from tvfsql.syntax import show, statements
from tvfsql.syntax.explain_words import ANALYZE, DETAILS, FORMATS, JSON_PLAN, PLAN, STAGES

if TYPE_CHECKING:
    from tvfsql.api.page.contents import Figures

Codes = dict[int, str]  # programs by the identity of the query

TITLES = {
    "ast": "Abstract Syntax Tree",
    "logical": "Logical Plan",
    "trace": "Rules",
    "physical": "Optimized Physical Plan",
    "code": "PySpark",
}


def stage_and_format(asked: statements.Explain) -> tuple[str, str]:
    """The stage and the format between EXPLAIN and its statement, as in EXPLAIN PHYSICAL JSON SELECT ..."""
    stage, form = PLAN, "text"
    for word in asked.stages:
        if word == JSON_PLAN:
            stage, form = "physical", "json"
        elif word in STAGES:
            stage = word
        elif word in FORMATS:
            form = word
        elif word not in ("for", ANALYZE, *DETAILS):
            hint = did_you_mean(word.upper(), [known.upper() for known in (ANALYZE, *STAGES, *FORMATS)])
            raise BindError(f"EXPLAIN does not know {word.upper()}", span=asked.span, hint=hint)
    return stage, form


def explain(queries: Sequence[Stages], stage: str, format: str) -> str:
    """Explain a stage of queries, or all of them. Raises OptionError for an unknown stage or format."""
    for word, known, what in ((stage, STAGES, "stage"), (format, FORMATS, "format")):
        if word not in known:
            raise OptionError(f"there is no {what} {word}", hint=did_you_mean(word, known, otherwise=f"{what}s: "))
    stages = tuple(TITLES) if stage == "all" else (stage,)
    codes = _codes(queries)
    if format == "html":
        return html(queries)
    if format == "json":
        named = ("physical",) if stage == PLAN else stages
        data = [{name: _data(query, name, codes) for name in named} for query in queries]
        return json.dumps(data if len(data) > 1 else data[0], indent=2, ensure_ascii=False)
    if format == "mermaid":
        return "\n\n".join(_mermaid(query.logical if stage == "logical" else query.physical) for query in queries)
    return "\n\n".join(_texts(query, stages, codes) for query in queries)


def html(queries: Sequence[Stages], figures: Figures | None = None, *, live: bool = False) -> str:
    """All stages as a page for a browser; `figures` are those of an operator, if the query has run. A `live` page shows
    the streams that run.
    """
    from tvfsql.api.page import page
    from tvfsql.api.page.contents import query_data

    codes = _codes(queries)
    data = [
        query_data(query, number, codes[id(query)], show.tree(query.ast), figures, live=live)
        for number, query in enumerate(queries, 1)
    ]
    return page("tvfsql run" if live else "EXPLAIN", data, live=live)


def _codes(queries: Sequence[Stages]) -> Codes:
    """The program of each query. INSERTs that share a stream have it at the first of them."""
    codes = {id(query): without(Program((query,)).code) for query in queries if query.mode != "streaming"}
    for program in streams_of(query for query in queries if query.mode == "streaming"):
        first, *others = program.queries
        codes[id(first)] = without(program.code)
        codes |= {id(other): f"# in the program of {first.shown_sql.splitlines()[0]}" for other in others}
    return codes


def _texts(query: Stages, stages: tuple[str, ...], codes: Codes) -> str:
    if len(stages) == 1:
        return _text(query, stages[0], codes)
    return "\n\n".join(f"== {TITLES[name]} ==\n{_text(query, name, codes)}" for name in stages)


def _text(query: Stages, stage: str, codes: Codes) -> str:
    match stage:
        case "plan":
            words = f"== What the operators do, in the order of the rows ==\n{_in_words(query.physical)}"
            return f"== {TITLES['physical']} ==\n{tree(query.physical)}\n\n{words}"
        case "ast":
            return show.tree(query.ast)
        case "logical":
            return tree(query.logical)
        case "trace":
            steps = (f"{step.phase}: {step.rule}\n{_indented(step.diff())}" for step in query.steps)
            return "\n".join(steps) or "(no rule applied)"
        case "physical":
            return tree(query.physical)
    return codes[id(query)].rstrip()


def _in_words(plan: Node) -> str:
    """What each operator does, in the order of the rows."""
    nodes = in_order_of_rows(plan)
    wide = max(len(node.title) for node in nodes)
    lines = (f"{number:>2}. {node.title:<{wide}}  {sentence(node)}" for number, node in enumerate(nodes, 1))
    return "\n".join(lines)


def _data(query: Stages, stage: str, codes: Codes) -> Any:
    match stage:
        case "ast":
            return show.data(query.ast)
        case "logical":
            return _node(query.logical)
        case "trace":
            return [
                {
                    "phase": step.phase,
                    "rule": step.rule,
                    "before": _node(step.before),
                    "after": _node(step.after),
                }
                for step in query.steps
            ]
        case "physical":
            return _node(query.physical, in_words=True)
    return codes[id(query)]


def _node(node: Node, *, in_words: bool = False) -> dict[str, Any]:
    """An operator as data. `in_words`: also its kind as its role, and its sentence."""
    words = {"role": kind_of(node), "does": sentence(node)} if in_words else {}
    return {
        "operator": node.title,
        **words,
        **dict(node.details()),
        "columns": list(node.columns),
        "inputs": [_node(child, in_words=in_words) for child in node.children],
    }


def _mermaid(plan: Node) -> str:
    """A flowchart from the sources (top) to the result; rows flow along the arrows."""
    lines = ["flowchart TD"]
    numbers: dict[int, str] = {}

    def visit(node: Node) -> str:
        below = [visit(child) for child in node.children]
        name = f"n{len(numbers)}"
        numbers[len(numbers)] = name
        operator, _, rest = node.label().partition("(")
        parts = [f"{key}: {value}" for key, value in node.details()]
        label = (
            "<br/>".join(_escaped(text) for text in (f"<{operator}>", *parts))
            if parts
            else _escaped(f"{operator}({rest}")
        )
        shape = ("[(", ")]") if not node.children else ("[/", "/]") if isinstance(node, Sink) else ("[", "]")
        lines.append(f'  {name}{shape[0]}"{label}"{shape[1]}')
        lines.extend(f"  {child} --> {name}" for child in below)
        return name

    visit(plan)
    return "\n".join(lines)


def _escaped(text: str) -> str:
    """Text that mermaid shows literally; `<name>` in angle brackets becomes bold."""
    if text.startswith("<") and text.endswith(">"):
        return f"<b>{text[1:-1]}</b>"
    for char, code in (("&", "amp"), ('"', "quot"), ("<", "lt"), (">", "gt"), ("#", "35")):
        text = text.replace(char, f"#{code};") if char != "#" else text
    return text.replace("\n", " ")


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
