"""The Spark that tvfsql starts if it is not given one: its Java, its SPARK_HOME, its settings, and its end.

A session that the user passes needs nothing from here. Output and failures of any Spark are in `host`.
"""
