"""Aligns the plans of a stream with a checkpoint: tables in the order in which it knows them, added ones last.

Spark knows sources by their order, and operators know the channels of a union by the places of its sides. Source:
docs/streams.md#more-tables.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, permutations, product

from tvfsql.physical.checkpoint.manifest import found_in, manifest_of
from tvfsql.physical.operators import Calc, StreamOperator, StreamUnion, StreamUpsertAggregate, TableSourceScan
from tvfsql.physical.streams.inputs import inputs_of
from tvfsql.physical.window_operators import StreamSlices
from tvfsql.plan import nodes
from tvfsql.plan.analysis.sharing import Reused, Shared, shared_by
from tvfsql.plan.analysis.sharing import Source as Plan
from tvfsql.plan.checkpoint.changes import changes, verdict_of
from tvfsql.plan.checkpoint.manifest import Manifest, Source
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Item
from tvfsql.plan.values.scalar import column

MOST = 50  # pairings of tables that are tried; there are several only if a table is read twice
Table = tuple[str, str]
Places = Mapping[int, int]  # of the tables that the checkpoint knows: the identity of a scan, its place there


@dataclass(frozen=True)
class Aligned:
    """Plans whose tables have the order of a checkpoint. `known` are the same plans without added tables, `added` the
    places of these among the sources; empty if no table is added.
    """

    plans: tuple[Node, ...]
    known: tuple[Node, ...] = ()
    added: tuple[int, ...] = ()


def aligned(plans: Sequence[Node], old: Manifest) -> Aligned:
    """Align physical plans with the manifest of a checkpoint. Only sides of UNION ALL change places, and only whole
    sides without operators with state can be added. Other plans are returned unchanged; the checkpoint refuses them.
    """
    best, least = Aligned(tuple(plans)), (math.inf, math.inf)
    for places in islice(_pairings(plans, old), MOST):
        found = _aligned(plans, places)
        cost = _cost(found, old) if found is not None else least
        if found is not None and cost < least:
            best, least = found, cost
        if not any(cost):
            break
    return best


def aligned_scans(scans: Sequence[TableSourceScan], old: Manifest) -> Aligned:
    """The same for a stream that reads some tables and does nothing else, such as the one of dead letters."""
    places = next(_pairings(scans, old), {})
    known = tuple(scan for scan in scans if id(scan) in places)
    added = tuple(place for place, scan in enumerate(scans) if id(scan) not in places)
    return Aligned(tuple(scans), known, added) if known and added else Aligned(tuple(scans))


def _pairings(plans: Sequence[Node], old: Manifest) -> Iterator[Places]:
    """The ways to find the tables of a checkpoint among those of the plans. Those that are used in the same way come
    first; then the ones in order.
    """
    scans = _scans(plans)
    made = manifest_of(plans, [], ())
    there, here = ([_identity(source) for source in each.sources] for each in (old, made))
    if Counter(there) - Counter(here):
        return
    left, places = [*range(len(scans))], dict[int, int]()
    for place, source in enumerate(there):
        used = _uses(old, place)
        same = next((i for i in left if here[i] == source and _uses(made, i) == used), None)
        if same is not None:
            left.remove(same)
            places[id(scans[same])] = place
    rest = [place for place in range(len(there)) if place not in places.values()]
    for chosen in _orders([there[place] for place in rest], [(here[i], scans[i]) for i in left]):
        yield places | {id(scan): place for place, scan in zip(rest, chosen, strict=True)}
    for chosen in _orders(there, [*zip(here, scans, strict=True)]):
        yield {id(scan): place for place, scan in enumerate(chosen)}


def _orders(wanted: Sequence[Table], given: Sequence[tuple[Table, Node]]) -> Iterator[Sequence[Node]]:
    """The ways to choose a scan for each wanted table."""
    of_table = {table: [scan for each, scan in given if each == table] for table in wanted}
    ways = (permutations(scans, wanted.count(table)) for table, scans in of_table.items())
    for way in product(*ways):
        chosen = {table: iter(scans) for table, scans in zip(of_table, way, strict=True)}
        yield [next(chosen[table]) for table in wanted]


def _uses(manifest: Manifest, place: int) -> list[object]:
    """How operators use a source: by which conditions, and what they compute of it."""
    found = list[object]()
    for state in manifest.operators:
        for number, one in enumerate(state.inputs):
            if one.of == f"source {place + 1}":
                columns = (each.of for each in (*state.keys, *state.columns) if len(each.of) == len(state.inputs))
                found.append((state.kind, one.where, one.through, sorted(of[number] for of in columns)))
    return found


def _identity(source: Source) -> Table:
    """A table keeps its place by where it is, whatever its name; without a place it has only its name."""
    return (source.connector, source.at or source.table)


def _aligned(plans: Sequence[Node], places: Places) -> Aligned | None:
    """The plans with their tables in these places; None if that is not possible."""
    ordered = _Aligner(places).plans(plans)
    scans = _scans(ordered)
    added = tuple(place for place, scan in enumerate(scans) if id(scan) not in places)
    if not added:
        return Aligned(ordered)
    known = _Aligner(places, leave_out=True).plans(plans)
    same_state = len(found_in(known)) == len(found_in(ordered)) - len(added)
    return Aligned(ordered, known, added) if same_state and len(_scans(known)) == len(places) else None


def _cost(found: Aligned, old: Manifest) -> tuple[float, float]:
    """How much a checkpoint has against the plans: the least is the best pairing of tables that are read twice."""
    now = manifest_of(found.known or found.plans, [], ())
    between = changes(replace(old, sinks=()), replace(now, sinks=()))
    return verdict_of(between), len(between)


def _scans(plans: Sequence[Node]) -> list[TableSourceScan]:
    return [node for node in found_in(plans) if isinstance(node, TableSourceScan)]


@dataclass
class _Aligner:
    """Puts the sides of each UNION ALL in the order of their tables' places. With `leave_out`, without those sides
    whose tables have none. A part that several plans read is rewritten once.
    """

    places: Places
    leave_out: bool = False
    made: dict[int, tuple[Node, Node]] = field(default_factory=dict)  # by identity of a node, which is kept alive
    shared: dict[Node, Node] = field(default_factory=dict)  # of equal parts that plans share, the one with the tables

    def plans(self, plans: Sequence[Node]) -> tuple[Node, ...]:
        self.shared = {part: part for part in shared_by(plans)}
        return tuple(map(self.visit, plans))

    def visit(self, node: Node) -> Node:
        if id(node) not in self.made:
            self.made[id(node)] = (node, self._made(node))
        return self.made[id(node)][1]

    def _made(self, node: Node) -> Node:
        if isinstance(node, Reused):
            return replace(node, of=Plan(self.visit(node.of.plan)))
        if isinstance(node, Shared):
            return replace(node, input=self.visit(self.shared[node.input]))
        sides = self._sides(node)
        if sides is None:
            new = node.over(self.visit)
            return _with_inputs(new) if new is not node else node
        kept = [side for side in sides if not (self.leave_out and self._place(side) == math.inf)] or sides
        ordered = sorted(kept, key=self._place)
        if isinstance(node, nodes.SetOperation) and ordered == sides:
            return node.over(self.visit)
        return self._union(node, [(side, self.visit(side)) for side in ordered])

    def _sides(self, node: Node) -> list[Node] | None:
        match node:
            case StreamUnion(sides):
                return [*sides]
            case nodes.SetOperation(left, right, "union", True):
                return [each for side in (left, right) for each in (self._sides(side) or [side])]
        return None

    def _union(self, node: Node, pairs: list[tuple[Node, Node]]) -> Node:
        others = pairs[1:]
        new = _named(pairs[0][1], node.columns)
        if isinstance(node, nodes.SetOperation):
            for _, side in others:
                new = replace(node, left=new, right=side)
            return new
        if not others:
            return new
        sides: tuple[Node, ...] = (new, *(side for _, side in others))
        if isinstance(new, StreamUnion) and all(self._place(side) == math.inf for side, _ in others):
            sides = (*new.sides, *sides[1:])  # the channels of known sides keep their names
        same = isinstance(node, StreamUnion) and sides == node.sides
        return node if same else StreamUnion(sides, span=node.span)

    def _place(self, side: Node) -> float:
        """The first place of a table that is read below; infinite if none has one."""
        return min((self.places.get(id(scan), math.inf) for scan in _scans_below(side)), default=math.inf)


def _scans_below(node: Node) -> Iterator[Node]:
    if isinstance(node, TableSourceScan):
        yield node
    for child in (node.of.plan,) if isinstance(node, Reused) else node.children:
        yield from _scans_below(child)


def _named(node: Node, names: Sequence[str]) -> Node:
    """The rows with the names of the side that was the first one."""
    if node.columns == tuple(names):
        return node
    pairs = zip(names, node.schema, strict=True)
    return Calc(node, tuple(Item(name, column(part.name, part.type)) for name, part in pairs))


def _with_inputs(node: Node) -> Node:
    """An operator with the inputs that it has now."""
    if not isinstance(node, StreamOperator) or isinstance(node, StreamSlices | StreamUpsertAggregate):
        return node
    below = [inputs_of(child) for child in node.children]
    inputs = below[0] if len(below) == 1 else (f"{i}/{name}" for i, each in enumerate(below, 1) for name in each)
    return node.told(inputs=tuple(inputs))
