"""`make bench-growth`: how time and memory grow with the size of a question, one curve for each kind of size."""
