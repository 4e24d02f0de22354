"""What a run shows to its user and takes from its machine: rows as text, the status line, errors, passwords.

Nothing here processes the rows of a query. The Spark that tvfsql starts is in `local_spark`.
"""
