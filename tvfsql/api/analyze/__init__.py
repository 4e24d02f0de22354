"""EXPLAIN ANALYZE: runs a query and reports what each operator did, as far as Spark's own metrics show it."""
