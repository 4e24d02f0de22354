"""Where a run meets its user and machine: rows as text, the status line, failures in plain words, the environment.

Nothing here touches the rows of a query before they are printed. The Spark of this machine is in `local_spark`.
"""
