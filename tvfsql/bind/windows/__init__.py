"""Binds window table functions: one, several side by side, and those that fill gaps."""
