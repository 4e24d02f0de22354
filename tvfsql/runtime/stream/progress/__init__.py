"""What running streams count: Spark's progress reports, added up, and the metrics computed from them.

Nothing here starts or stops a stream: the driver does.
"""
