"""What running streams count: Spark's progress reports added up, and the metrics made of them.

Nothing here starts or stops a stream; that is the driver's.
"""
