"""Every operator of every case has a sentence, which names nothing internal, and a kind."""

from __future__ import annotations

import re

from tests.goldens.test_plans import ALL, compiled
from tvfsql.physical.kinds import Kind, kind_of
from tvfsql.physical.sentences import sentence

INTERNAL = re.compile(r"\$(?:watermark|control|channel|late|version|arrival|range|op|start|last)\b")


def test_each_operator_has_a_sentence_of_its_own() -> None:
    said = set[str]()
    for case in ALL:
        for query in compiled(case):
            for node in (*query.logical.walk(), *query.optimized.walk(), *query.physical.walk()):
                text = sentence(node)
                assert re.match(r"[a-z]+s ", text) and not text.endswith("."), text
                assert not INTERNAL.search(text), text
                said.add(text)
    assert len(said) > 500  # few operators say the same


def test_each_kind_is_in_some_plan() -> None:
    kinds = {kind_of(node) for case in ALL for query in compiled(case) for node in query.physical.walk()}
    assert kinds == set(Kind)
