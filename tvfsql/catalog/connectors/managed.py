"""A table without a connector: Parquet files in the warehouse. INSERT fills it and queries read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tvfsql.catalog.connectors.connector import Connector
from tvfsql.errors import BindError, Span
from tvfsql.folders import file_name


@dataclass(frozen=True)
class Managed(Connector):
    """`path` is the table's folder: relative to the warehouse until the script resolves it."""

    @property
    def by_number(self) -> str:
        return self.path or self.name


def managed(name: str, given: Mapping[str, str], spans: Mapping[str, Span]) -> Managed:
    """Return the table of that name. Raises BindError if it has options, which need a connector."""
    old = given.get("connector.type")  # Flink's options before 1.11
    for key in given:
        hint = "add 'connector' = 'filesystem', or kafka, datagen, ..."
        if old is not None:
            hint = f"'connector' = '{old}', and its options without prefix: 'topic' instead of 'connector.topic'"
        raise BindError(f"the option {key} needs a connector", span=spans[key], hint=hint)
    return Managed("managed", "parquet", file_name(name))
