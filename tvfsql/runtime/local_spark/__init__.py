"""The Spark that tvfsql starts when it is given none: a Java for it, its SPARK_HOME, its settings, and its end.

A session of the user's needs nothing of this. What is printed, and failures of any Spark, are in `host`.
"""
