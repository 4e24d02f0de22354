"""Assigns Spark's nodes to the operators that they compute.

Both plans are trees over the same sources. A chain of operators and the chain of nodes that runs it are aligned in
order, by the kinds of nodes that can compute an operator. A node that fits no operator stays unassigned, and so does a
part of the plan whose shape Spark has changed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

from tvfsql.plan.node import Node
from tvfsql.runtime.measured import SparkNode

SURE, OWN, LIKELY = 8, 2, 1  # the weight of a match; one sure match outweighs several likely ones

_AGGREGATE = "HashAggregate|SortAggregate|ObjectHashAggregate"
_JOIN = "SortMergeJoin|BroadcastHashJoin|ShuffledHashJoin|BroadcastNestedLoopJoin|CartesianProduct"
_KERNEL = r"MapInArrow|FlatMap\w*"
_PYTHON = "ArrowEvalPython|BatchEvalPython"
_SCAN = "Scan|BatchScan|LocalTableScan|RDDScan|Range|MicroBatchScan"
_STATE = r"TransformWithState\w*|StateStore\w*"
_ROWS = "ColumnarToRow|Project|Filter|CollectMetrics"
_SHUFFLE = "Exchange|BroadcastExchange|AQEShuffleRead|Sort|Project|ColumnarToRow"
# By operator: nodes that only it has, and nodes that can belong to it.
FITS: Mapping[str, tuple[str, str]] = {
    "TableSourceScan": (_SCAN, f"{_ROWS}|MapInArrow|Generate"),
    "Values": (_SCAN, "Project|Union"),
    "Calc": ("Filter", f"{_ROWS}|{_PYTHON}"),
    "RowTimeCheck": ("CollectMetrics", _ROWS),
    "WatermarkAssigner": ("Union", f"{_ROWS}|{_SCAN}"),
    "ProcessingTimeAssigner": ("Union", f"{_ROWS}|{_SCAN}"),
    "LocalWindowAggregate": (f"{_AGGREGATE}|MapInArrow", f"{_SHUFFLE}|Expand|{_PYTHON}"),
    "TimeRanges": ("Expand", "Project|Filter"),
    "GlobalWindowAggregate": (f"{_KERNEL}|{_STATE}", f"Sort|AQEShuffleRead|{_ROWS}|{_PYTHON}"),
    "WindowAggregate": (f"{_AGGREGATE}|{_KERNEL}|{_STATE}", f"{_SHUFFLE}|Expand|{_ROWS}|{_PYTHON}"),
    "Aggregate": (_AGGREGATE, f"{_SHUFFLE}|Expand"),
    "Distinct": (_AGGREGATE, _SHUFFLE),
    "Exchange": ("Exchange", "AQEShuffleRead"),
    "Sort": ("Sort|TakeOrderedAndProject", "Exchange|AQEShuffleRead|Project"),
    "Limit": ("TakeOrderedAndProject|GlobalLimit|LocalLimit|CollectLimit|Limit", "Exchange|AQEShuffleRead"),
    "Expand": ("Expand|Generate|Union", "Project"),
    "WindowTableFunction": ("Window|MapInArrow|Generate", f"{_SHUFFLE}|Filter"),
    "Unnest": ("Generate", "Project|Filter"),
    "Rank": ("Window", f"{_SHUFFLE}|Filter"),
    "TopN": (_STATE, f"{_SHUFFLE}|Filter|MapInArrow|{_AGGREGATE}"),
    "WindowTopN": ("Window|MapInArrow", f"{_SHUFFLE}|Filter"),
    "WindowDeduplicate": ("Window|MapInArrow", f"{_SHUFFLE}|Filter|{_AGGREGATE}"),
    "Deduplicate": (f"Window|{_STATE}", f"{_SHUFFLE}|Filter|MapInArrow|{_AGGREGATE}"),
    "Join": (_JOIN, _SHUFFLE),
    "LookupJoin": (_JOIN, _SHUFFLE),
    "ChangelogNormalize": (f"Window|{_STATE}", f"{_SHUFFLE}|Filter|MapInArrow|Project"),
    "CurrentWatermark": (_STATE, f"{_SHUFFLE}|MapInArrow|Filter"),
    "IntervalJoin": (f"{_JOIN}|{_STATE}", _SHUFFLE),
    "RegularJoin": (_STATE, f"{_SHUFFLE}|Filter|MapInArrow|Project"),
    "OverAggregate": (_STATE, f"{_SHUFFLE}|MapInArrow|Filter|Project"),
    "GapFill": (f"Window|Generate|{_STATE}", f"{_SHUFFLE}|MapInArrow|Filter|Project"),
    "Match": (f"MapInArrow|{_STATE}", f"{_SHUFFLE}|Filter|Project"),
    "TemporalSort": (_STATE, f"{_SHUFFLE}|MapInArrow|Filter|Project"),
    "TemporalJoin": (f"Window|{_STATE}", f"{_SHUFFLE}|Filter|Project|Union"),
    "UpsertMaterialize": ("MapInArrow", _SHUFFLE),
    "WindowJoin": (_JOIN, _SHUFFLE),
    "Union": ("Union", "Project"),
    "SetOperation": (f"Union|{_JOIN}|{_AGGREGATE}", _SHUFFLE),
}


def attributed(plan: Node, root: SparkNode) -> dict[int, Node]:
    """Return the operator of each of Spark's nodes, by the node's number. Unassigned nodes are left out."""
    found: dict[int, Node] = {}

    def align(above: Node | None, operator: Node, node: SparkNode) -> None:
        operators, inputs = _operators(operator)
        nodes, below = _nodes(node)
        same = len(inputs) == len(below)
        owned = _aligned(above, operators, nodes, whole=same)
        found.update(_above_exchange(owned, nodes) if _is_beside(nodes[-1]) else owned)
        if same:
            for pair in zip(inputs, below, strict=True):
                align(operators[-1], *pair)

    align(None, plan, root)
    return found


def kind(operator: Node) -> str:
    """The name of an operator in EXPLAIN."""
    return operator.label().partition("(")[0]


def _operators(top: Node) -> tuple[list[Node], tuple[Node, ...]]:
    """The operators down to the next one with several inputs, inclusive, and the inputs of that one."""
    chain = [top]
    while len(chain[-1].children) == 1:
        chain.append(chain[-1].children[0])
    return chain, chain[-1].children


def _nodes(top: SparkNode) -> tuple[list[SparkNode], tuple[SparkNode, ...]]:
    chain = [top]
    while len(inputs := _inputs(chain[-1])) == 1:
        chain.append(inputs[0])
    return chain, inputs


def _inputs(node: SparkNode) -> tuple[SparkNode, ...]:
    """The inputs with rows of tables. They do not include the control channel of a stream, which is not an operator's
    input, unless a micro-batch has no other rows.
    """
    found = tuple(child for child in node.children if not _is_beside(child))
    return found or tuple(child for child in node.children if not _is_empty(child))


def _is_beside(node: SparkNode) -> bool:
    """Whether it only reads the control channel, or the empty initial state of an operator."""
    if node.children:
        return all(map(_is_beside, node.children))
    return _is_empty(node) or "/control" in node.text


def _is_empty(node: SparkNode) -> bool:
    return not node.children and node.name.startswith("PlanLater")


def _above_exchange(found: dict[int, Node], nodes: Sequence[SparkNode]) -> dict[int, Node]:
    """What is assigned down to the exchange. Below it, a micro-batch that only reads the control channel has no rows of
    a table.
    """
    exchanges = [i for i, node in enumerate(nodes) if node.number in found and kind(found[node.number]) == "Exchange"]
    above = {node.number for node in nodes[: max(exchanges, default=-1) + 1]}
    return {number: operator for number, operator in found.items() if number in above}


def _aligned(above: Node | None, chain: Sequence[Node], nodes: Sequence[SparkNode], *, whole: bool) -> dict[int, Node]:
    """The best assignment of nodes to operators that keeps the order; both chains start at the result. If the chains
    end differently, likely matches are not counted. `above` consumes the result and may own some nodes of this chain.
    """
    operators = [*([above] if above else []), *chain]

    @cache
    def best(i: int, j: int) -> tuple[int, tuple[tuple[int, int], ...]]:
        """The best score, and the assignment, for the operators from i and the nodes from j on."""
        if i == len(operators) or j == len(nodes):
            return 0, ()
        choices = [best(i + 1, j), best(i, j + 1)]
        fit = _fit(operators[i], nodes[j], whole)
        fit = min(fit, LIKELY) if operators[i] is above else fit
        if fit:
            score, pairs = best(i, j + 1)
            choices.insert(0, (score + fit, ((i, j), *pairs)))
        return max(choices, key=lambda choice: choice[0])

    return {nodes[j].number: operators[i] for i, j in best(0, 0)[1]}


def _fit(operator: Node, node: SparkNode, whole: bool) -> int:
    name = kind(operator)
    sure, likely = FITS.get(name, ("", ""))
    word = node.name.split()[0]
    if sure and re.fullmatch(sure, word):
        return SURE
    if whole and word == "Project" and (name == "Calc" or (name == "RowTimeCheck" and "raise_error" in node.text)):
        return OWN
    return LIKELY if whole and likely and re.fullmatch(likely, word) else 0
