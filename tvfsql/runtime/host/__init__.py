"""What a run shows to its user and takes from its machine: rows as text, the status line, readable failures, the
environment.

Nothing here processes the rows of a query. The Spark that tvfsql starts is in `local_spark`.
"""
