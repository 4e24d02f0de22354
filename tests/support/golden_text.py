"""What a golden shows of a query: its plan, what each rule changes, and the program, each thing once.

A golden does not repeat what others prove. The SQL is in the case. Of a step only the lines that change are shown, and
of a changed line only the change. Of a program its imports and its main block are left out, because every program is
compiled, linted and formatted (`test_plans.py`), and a chain of calls has one line per call. The calls that read a
table have a name, and stand once in `tables_read.plan`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from hashlib import sha256
from itertools import zip_longest

from tvfsql.api import Compiled
from tvfsql.plan.plan_text import tree
from tvfsql.planner import Step

WIDTH = 120  # a longer chain of calls has a line per call
SAME = 24  # characters around a change within a line; more are left out
READS = ("spark.read", "spark.readStream")
TOKEN = re.compile(r"\w+|\s+|.", re.DOTALL)
PREFIX = re.compile(r"(?:[+:]- |:  |   )*")


def shown(query: Compiled) -> str:
    """A query in its golden."""
    parts = {
        "logical": tree(query.logical),
        "steps": "\n".join(map(step_text, query.steps)),
        "physical": query.explain("physical"),
        "pyspark": program_text(query.code),
    }
    return "\n".join(f"== {title} ==\n{text}" for title, text in parts.items() if text)


def answer_text(answer: str) -> str:
    """The answer of a statement that is not a query."""
    return f"== answer ==\n{answer}" if "\n" in answer else f"== answer == {answer}"


def step_text(step: Step) -> str:
    """The rule, and the lines that it changes: a single line stands beside it."""
    title, changes = f"{step.phase}: {step.rule}", [*_changes(tree(step.before), tree(step.after))]
    return f"{title}{changes[0]}" if len(changes) == 1 else "\n".join([title, *changes])


def _changes(before: str, after: str) -> Iterator[str]:
    """The lines that differ in more than their depth: `-` old, `+` new, `~` a line with both."""
    old, new = before.splitlines(), after.splitlines()
    match = SequenceMatcher(None, [PREFIX.sub("", line) for line in old], [PREFIX.sub("", line) for line in new], False)
    for kind, first, last, start, stop in match.get_opcodes():
        if kind == "equal":
            continue
        pairs = zip_longest(old[first:last], new[start:stop])
        if last - first == stop - start and all(_operator(one) == _operator(other) for one, other in pairs):
            for one, other in zip(old[first:last], new[start:stop], strict=True):
                yield f"  ~{_changed_line(one, other)}"
        else:
            yield from (f"  -{line}" for line in old[first:last])
            yield from (f"  +{line}" for line in new[start:stop])


def _operator(line: str) -> str:
    return PREFIX.sub("", line).partition("(")[0]


def _changed_line(old: str, new: str) -> str:
    """A line with its old parts as [-old-] and its new parts as {+new+}; long equal parts are cut short."""
    prefix = PREFIX.match(new)
    assert prefix is not None
    one, other = (TOKEN.findall(PREFIX.sub("", line)) for line in (old, new))
    parts = []
    for kind, first, last, start, stop in SequenceMatcher(None, one, other, False).get_opcodes():
        gone, come = "".join(one[first:last]), "".join(other[start:stop])
        if kind == "equal":
            parts.append(come if len(come) <= 2 * SAME else f"{come[:SAME]}...{come[-SAME:]}")
        else:
            parts.append((f"[-{gone}-]" if gone else "") + (f"{{+{come}+}}" if come else ""))
    return prefix[0] + "".join(parts)


def program_text(code: str) -> str:
    """A program without what all programs have."""
    lines = []
    for each in ast.parse(code).body:
        match each:
            case ast.Import() | ast.ImportFrom() | ast.If():
                continue
            case ast.FunctionDef(name="query", decorator_list=[]):
                lines += _body(each.body, "")
            case _:
                lines += _statement(each, "")
    return "\n".join(lines)


def tables_read(code: str) -> dict[str, str]:
    """The calls of a program that read tables, by the names that goldens show."""
    found = (each for each in ast.walk(ast.parse(code)) if isinstance(each, ast.Call) and _reads(each))
    return {_name(each): ast.unparse(each) for each in found}


class _Named(ast.NodeTransformer):
    """Puts names in place of the calls that read tables, and leaves out the check of their times."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node:
            case ast.Call(ast.Attribute(rows, "transform"), [ast.Name("refuse_far_times"), *_]):
                return self.visit(rows)
        return ast.Name(_name(node)) if _reads(node) else self.generic_visit(node)


def _reads(call: ast.Call) -> bool:
    """Whether a chain of calls reads a table, to its last call."""
    return (
        isinstance(call.func, ast.Attribute)
        and call.func.attr in ("load", "table", "csv", "json", "parquet")
        and (ast.unparse(call).startswith(READS))
    )


def _name(call: ast.Call) -> str:
    text = ast.unparse(call)
    path = str(call.args[0].value) if call.args and isinstance(call.args[0], ast.Constant) else ""
    form = re.search(r"\.format\('(\w+)'\)", text)
    stem = re.sub(r"\W+", "_", path.rpartition("/")[2].partition(".")[0]) or (form[1] if form else "table")
    return f"read_{stem}_{sha256(text.encode()).hexdigest()[:4]}"


def _body(statements: list[ast.stmt], indent: str) -> list[str]:
    return [line for each in statements if not _is_docstring(each) for line in _statement(each, indent)]


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _statement(statement: ast.stmt, indent: str) -> list[str]:
    if isinstance(statement, ast.FunctionDef | ast.With):
        body, statement.body = statement.body, [ast.Pass()]
        head = ast.unparse(statement).splitlines()[:-1]
        return [*(indent + line for line in head), *_body(body, indent + "    ")]
    text = ast.unparse(ast.fix_missing_locations(_Named().visit(statement)))
    head, chain = _chain(statement)
    if len(indent + text) <= WIDTH or chain is None:
        return [indent + line for line in text.splitlines()]
    calls: list[str] = []
    while isinstance(chain, ast.Call) and isinstance(chain.func, ast.Attribute):
        arguments = ast.unparse(ast.Call(ast.Name(""), chain.args, chain.keywords))
        calls.append(f"{indent}    .{chain.func.attr}{arguments}")
        chain = chain.func.value
    return [f"{indent}{head}{ast.unparse(chain)}", *reversed(calls)]


def _chain(statement: ast.stmt) -> tuple[str, ast.expr | None]:
    """What stands before a chain of calls, and the chain; None: the statement has none."""
    match statement:
        case ast.Assign(targets=[target], value=ast.Call() as chain):
            return f"{ast.unparse(target)} = ", chain
        case ast.Return(value=ast.Call() as chain):
            return "return ", chain
        case ast.Expr(value=ast.Call() as chain):
            return "", chain
    return "", None
