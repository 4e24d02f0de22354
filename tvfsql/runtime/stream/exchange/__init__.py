"""What travels from the local to the global phase of an operator: payloads by key group, channel messages, late rows.

The global phases are in `windows` and `rows`.
"""
