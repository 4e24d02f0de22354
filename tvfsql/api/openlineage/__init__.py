"""Events of OpenLineage about INSERTs: what runs, in which state, what it reads and writes, and which columns come from
which (docs/lineage.md).

`datasets` names tables as OpenLineage does, `runs` sends the events with OpenLineage's own client, an optional package.
"""
