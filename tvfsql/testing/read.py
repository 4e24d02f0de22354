"""Reads test files: YAML in which every unknown key is refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tvfsql.errors import DataError, Span, did_you_mean
from tvfsql.named_files import read_text
from tvfsql.testing.suite import Case, Rows, Step, Suite

SCRIPT_KEYS = ("script", "mode", "options", "params")
CASE_KEYS = ("name", *SCRIPT_KEYS, "steps")
STEP_KEYS = ("rows", "watermark", "idle", "now", "restart", "end", "expect", "late")
MODES = ("streaming", "batch")


class Loader(yaml.SafeLoader):
    """The scalars of YAML 1.2: times, `on` and `12:30` are texts."""

    yaml_implicit_resolvers: dict[str, Any] = {}


for _tag, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?[0-9]+", list("-+0123456789")),
    (
        "float",
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        list("-+0123456789."),
    ),
):
    Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), _first)


def read_suite(file: Path) -> Suite:
    """Return the tests of a file. Raises DataError, with the place, if it is not a valid test file."""
    return _Reader(file, read_text(file, "the test file")).suite()


@dataclass
class _Reader:
    file: Path
    text: str

    def suite(self) -> Suite:
        loader = Loader(self.text)
        try:
            root = loader.get_single_node()
            self.made: Callable[[yaml.Node], Any] = lambda node: loader.construct_object(node, deep=True)
            if root is None:
                raise self.wrong("this file has no tests", Span(0, 1), "script: FILE.sql, and tests:")
            return self._suite(root)
        except yaml.MarkedYAMLError as error:
            at = error.problem_mark.index if error.problem_mark else 0
            raise self.wrong(f"invalid YAML: {error.problem}", Span(at, at + 1)) from error
        except yaml.YAMLError as error:
            raise self.wrong(f"invalid YAML: {error}", Span(0, 1)) from error
        finally:
            loader.dispose()

    def _suite(self, root: yaml.Node) -> Suite:
        keys = dict(self._keys(root, (*SCRIPT_KEYS, "tests")))
        if "tests" not in keys:
            raise self.wrong("this file has no tests", _span(root), "tests: with a list of name and steps")
        cases = tuple(self._case(node, keys) for node in self._list(keys["tests"][1]))
        names = set[str]()
        for case in cases:
            if case.name in names:
                raise self.wrong(f"two tests are named {case.name}", case.span, "another name")
            names.add(case.name)
        return Suite(self.file, self.text, cases)

    def _case(self, node: yaml.Node, of_file: Mapping[str, tuple[yaml.Node, yaml.Node]]) -> Case:
        own = dict(self._keys(node, CASE_KEYS))
        keys = {**{key: of_file[key] for key in SCRIPT_KEYS if key in of_file}, **own}
        for needed, hint in (("name", "name: what it shows"), ("script", "script: FILE.sql"), ("steps", "steps:")):
            if needed not in keys:
                raise self.wrong(f"this test has no {needed}", _span(node), hint)
        mode, place = self._text(keys["mode"][1]) if "mode" in keys else (MODES[0], Span(0, 0))
        if mode not in MODES:
            raise self.wrong(f"there is no mode {mode}", place, did_you_mean(mode, MODES))
        steps = tuple(self._step(step) for step in self._list(keys["steps"][1]))
        if mode == "batch":
            self._refuse_time(steps)
        given, params = (
            {**self._texts(of_file.get(key)), **self._texts(own.get(key))} for key in ("options", "params")
        )
        name, span = self._text(keys["name"][1])
        return Case(name, self.file.parent / self._text(keys["script"][1])[0], mode, given, steps, span, params)

    def _texts(self, found: tuple[yaml.Node, yaml.Node] | None) -> dict[str, str]:
        if found is None:
            return {}
        return {key: self._text(value)[0] for key, (_, value) in self._keys(found[1])}

    def _refuse_time(self, steps: tuple[Step, ...]) -> None:
        if len(steps) != 1:
            span = steps[1].span if steps else Span(0, 1)
            raise self.wrong("a test in batch mode has one step", span, "mode: streaming")
        step = steps[0]
        if step.watermark or step.idle or step.restart or step.end:
            raise self.wrong("watermark, restart and end need mode: streaming", step.span, "mode: streaming")

    def _step(self, node: yaml.Node) -> Step:
        if not isinstance(node, yaml.MappingNode):
            raise self.wrong("a mapping with keys is expected here", _span(node), "rows: or watermark:")
        keys = dict(self._keys(node, STEP_KEYS))
        if not keys:
            raise self.wrong("this step is empty", _span(node), "rows: or watermark:")

        def of(key: str) -> yaml.Node | None:
            return keys[key][1] if key in keys else None

        rows, mark, idle, now, restart = (of(key) for key in ("rows", "watermark", "idle", "now", "restart"))
        expect, late, end = of("expect"), of("late"), of("end")
        return Step(
            Span(node.start_mark.index, node.start_mark.index + 1),
            rows={name: self._rows(value) for name, (_, value) in self._keys(rows)} if rows else {},
            watermark=self._marks(mark) if mark else {},
            idle=tuple(self._text(each) for each in self._several(idle)) if idle else (),
            now=self._text(now) if now else None,
            restart=self._restart(restart) if restart else None,
            end=self._flag(end) if end else False,
            expect=self._expected(expect) if expect else {},
            late=self._count(late) if late else 0,
            column=node.value[0][0].start_mark.column,
            is_block=not node.flow_style,
            last=_end(node),
            parts={
                key: Span(keys[key][0].start_mark.index, _end(keys[key][1]))
                for key in ("expect", "late")
                if key in keys
            },
        )

    def _expected(self, node: yaml.Node) -> dict[str, Rows]:
        if isinstance(node, yaml.MappingNode):
            return {name: self._rows(value) for name, (_, value) in self._keys(node)}
        return {"": self._rows(node)}

    def _rows(self, node: yaml.Node) -> Rows:
        if self._is_null(node):
            return Rows(span=_span(node))
        rows = self._list(node)
        values = []
        for row in rows:
            dict(self._keys(row))  # refuses a row with the same column twice
            values.append({str(column): value for column, value in self.made(row).items()})
        return Rows(tuple(values), tuple(map(_span, rows)), _span(node))

    def _marks(self, node: yaml.Node) -> dict[str, tuple[str, Span]]:
        if isinstance(node, yaml.MappingNode):
            return {table: self._text(value) for table, (_, value) in self._keys(node)}
        return {"": self._text(node)}

    def _restart(self, node: yaml.Node) -> tuple[str, Span] | None:
        text, span = self._text(node)
        if text in ("true", "false"):
            return ("", span) if text == "true" else None
        return text, span

    def _flag(self, node: yaml.Node) -> bool:
        value = self.made(node)
        if not isinstance(value, bool):
            raise self.wrong("true or false is expected here", _span(node), "true")
        return value

    def _count(self, node: yaml.Node) -> int:
        value = self.made(node)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self.wrong("late takes a number of rows", _span(node), "late: 1")
        return value

    def _text(self, node: yaml.Node) -> tuple[str, Span]:
        if not isinstance(node, yaml.ScalarNode) or self._is_null(node):
            raise self.wrong("a text is expected here", _span(node))
        return node.value, _span(node)

    def _several(self, node: yaml.Node) -> list[yaml.Node]:
        return self._list(node) if isinstance(node, yaml.SequenceNode) else [node]

    def _list(self, node: yaml.Node) -> list[yaml.Node]:
        if not isinstance(node, yaml.SequenceNode):
            raise self.wrong("a list is expected here", _span(node), "- before each entry")
        return list(node.value)

    def _keys(
        self, node: yaml.Node, known: tuple[str, ...] | None = None
    ) -> Iterator[tuple[str, tuple[yaml.Node, yaml.Node]]]:
        """Yield name, key and value of each entry of a mapping. `known` are the allowed names."""
        if not isinstance(node, yaml.MappingNode):
            raise self.wrong(
                "a mapping with keys is expected here", _span(node), f"{known[0]}: ..." if known else "column: value"
            )
        seen = set[str]()
        for key, value in node.value:
            name, span = self._text(key)
            if known and name not in known:
                raise self.wrong(f"unknown key {name}", span, did_you_mean(name, known))
            if name in seen:
                raise self.wrong(f"the key {name} is given twice", span)
            seen.add(name)
            yield name, (key, value)

    def _is_null(self, node: yaml.Node) -> bool:
        return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null"

    def wrong(self, message: str, span: Span, hint: str | None = None) -> DataError:
        return Suite(self.file, self.text, ()).mistake(message, span, hint)


def _span(node: yaml.Node) -> Span:
    return Span(node.start_mark.index, max(_end(node), node.start_mark.index + 1))


def _end(node: yaml.Node) -> int:
    """The end of a node's text; YAML itself extends a block to the start of the next one."""
    if not isinstance(node, yaml.CollectionNode) or node.flow_style:
        return int(node.end_mark.index)
    parts = [part for entry in node.value for part in (entry if isinstance(entry, tuple) else (entry,))]
    return max(map(_end, parts), default=int(node.start_mark.index))
