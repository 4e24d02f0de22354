from __future__ import annotations

import pyarrow as pa

from tvfsql.runtime.arrow import order


def test_maps_are_ordered_by_their_entries() -> None:
    kind = pa.map_(pa.string(), pa.int32())
    maps = pa.array([{"b": 1}, None, {"a": 2}, {}, {"a": 1, "c": 3}, {"a": 2}], kind)
    for column in (maps, pa.concat_arrays([pa.array([{"z": 9}], kind), maps]).slice(1)):
        numbers, _ = order.places(column)
        assert numbers.tolist()[1] == 0
        assert numbers[3] < numbers[4] < numbers[2] == numbers[5] < numbers[0]
