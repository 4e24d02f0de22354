"""The operators of streams that keep rows by key."""

from __future__ import annotations

from tvfsql.emit import columns
from tvfsql.emit.operators import emit
from tvfsql.emit.script import Call, Chain, Script, literal
from tvfsql.emit.sources import STREAM
from tvfsql.options import KEY_GROUPS
from tvfsql.physical.row_operators import StreamIntervalJoin, StreamKeepRow


@emit.register
def _(node: StreamKeepRow, script: Script) -> str:
    source = emit(node.input, script)
    arguments = [
        source,
        f"keys={literal(list(node.partition))}",
        f"time={literal(node.time)}",
        f"keep={literal('last' if node.order.descending else 'first')}",
        *([f"retention={node.retention:_}"] if node.retention else []),
        *([f"ties={literal(columns.directions(node.ties))}"] if node.ties else []),
        *(["on_event=True"] if node.on_event else []),
        *([f"inputs={literal(node.inputs)}"] if node.inputs != ("",) else []),
    ]
    return _called("deduplicate_stream", arguments, node, "kept", script)


@emit.register
def _(node: StreamIntervalJoin, script: Script) -> str:
    sides = [emit(node.left, script), emit(node.right, script)]
    null_safe = [pair.left for pair in node.pairs if pair.null_safe]
    arguments = [
        *sides,
        f"on=[{', '.join(f'({literal(pair.left)}, {literal(pair.right)})' for pair in node.pairs)}]",
        f"times=({literal(node.left_time)}, {literal(node.right_time)})",
        f"between=({node.low:_}, {node.high:_})",
        *([f"kind={literal(node.kind)}"] if node.kind != "inner" else []),
        *([f"null_safe={literal(null_safe)}"] if null_safe else []),
        *([f"inputs={literal(node.inputs)}"] if node.inputs != ("1/", "2/") else []),
    ]
    return _called("interval_join_stream", arguments, node, "joined", script)


def _called(
    function: str, arguments: list[str], node: StreamKeepRow | StreamIntervalJoin, wanted: str, script: Script
) -> str:
    """The call of a runtime function over its rows, and what all of them may be told."""
    name = script.name(wanted)
    arguments += [f"key_groups={node.key_groups}"] if node.key_groups != KEY_GROUPS else []
    # what operators of one query observe needs names of their own
    arguments += [f"name={literal(f'tvfsql_{name}')}"] if name != wanted else []
    arguments += ["marks=True"] if node.marks else []
    arguments += ["proctime=True"] if node.proctime else []
    return script.assign(name, Chain("", (Call(script.need(STREAM, function), tuple(arguments)),)))
