"""The driver's side of running streams: queries, progress, idle sources, processing-time triggers, statement sets.

Nothing here runs on a worker.
"""
