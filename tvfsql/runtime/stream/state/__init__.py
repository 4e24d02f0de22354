"""State of a key group: stores of Arrow chunks and timers, their layout in RocksDB, and the description beside them.

What an operator does with its state is in `windows` and `rows`.
"""
