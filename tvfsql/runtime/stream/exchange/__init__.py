"""What travels from the local to the global phase of an operator: payloads by key group, messages, late rows.

What arrives is handled in `windows` and `rows`.
"""
