"""`--only latency`: how long after a window's end its rows arrive, and the highest rate at which that does not grow."""
