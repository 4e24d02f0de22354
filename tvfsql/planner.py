"""The planner: applies phases of rules until nothing changes, and checks and records every step."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from tvfsql.errors import OptionError, did_you_mean
from tvfsql.options import Options
from tvfsql.options.known import DISABLED_RULES
from tvfsql.plan.node import Node
from tvfsql.plan.plan_text import tree
from tvfsql.plan.spans import placed

Rewrite = Callable[[Node, Options], Node | None]
MAX_PASSES = 100


@dataclass(frozen=True)
class Rule:
    """A rewrite with a name and a reason. `rewrite` returns None where the rule does not apply. A rule `of_plan` sees
    the whole plan, after the other rules of its phase, which see one operator with what is below it.
    """

    name: str
    rewrite: Rewrite
    doc: str
    of_plan: bool = False


@dataclass(frozen=True)
class Phase:
    name: str
    rules: tuple[Rule, ...]


@dataclass(frozen=True)
class Step:
    """One application of a rule: the operator before and after it."""

    phase: str
    rule: str
    before: Node
    after: Node

    def diff(self) -> str:
        """The change as a unified diff of the two plan texts, without headers."""
        before, after = tree(self.before).splitlines(), tree(self.after).splitlines()
        lines = difflib.unified_diff(before, after, lineterm="", n=max(len(before), len(after)))
        return "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@")))


def rule(rewrite: Callable[[Node, Options], Node | None]) -> Rule:
    """Turn a function into the rule of its name. Its docstring must say why the rule holds, with a Before and an
    After.
    """
    doc = rewrite.__doc__ or ""
    if "Before:" not in doc or "After:" not in doc:
        raise AssertionError(f"rule {rewrite.__name__} shows no Before and After")
    return Rule(rewrite.__name__, rewrite, doc)


def plan_rule(rewrite: Callable[[Node, Options], Node | None]) -> Rule:
    """The same for a rule that sees the whole plan."""
    return replace(rule(rewrite), of_plan=True)


@dataclass
class Planner:
    """Applies phases to a plan. A rule may change a plan, never its output columns."""

    phases: Sequence[Phase]
    options: Options = field(default_factory=Options)
    steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        known = {each.name for phase in self.phases for each in phase.rules}
        for name in sorted(self.options[DISABLED_RULES] - known):
            raise OptionError(f"there is no rule {name}", hint=did_you_mean(name, known))

    def plan(self, node: Node) -> Node:
        for phase in self.phases:
            node = self._settle(phase, node)
        return node

    def _settle(self, phase: Phase, plan: Node) -> Node:
        for _ in range(MAX_PASSES):
            before, plan = plan, plan.transform(lambda node: self._visit(phase, node))
            plan = self._visit(phase, plan, of_plan=True)
            if plan is before:
                return plan
        last = ", ".join(step.rule for step in self.steps[-4:])
        raise AssertionError(f"phase {phase.name} does not settle; its last rules: {last}\n{tree(plan)}")

    def _visit(self, phase: Phase, node: Node, *, of_plan: bool = False) -> Node:
        for each in phase.rules:
            if each.of_plan != of_plan:
                continue
            after = None if each.name in self.options[DISABLED_RULES] else each.rewrite(node, self.options)
            if after is None:
                continue
            if after.schema != node.schema:
                raise AssertionError(
                    f"{each.name} changed the columns:\n{node.schema}\n{after.schema}\n{tree(node)}\n{tree(after)}"
                )
            after = placed(after, node)
            self.steps.append(Step(phase.name, each.name, node, after))
            node = after
        return node
