"""The lives of the tables of a stream: what is read, idle, ended or closed, by the reports of Spark.

Nothing here runs on a worker.
"""
