"""EXPLAIN ANALYZE: runs a query and tells what each operator did, as far as Spark's own counters say."""
