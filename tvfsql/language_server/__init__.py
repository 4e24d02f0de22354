"""`tvfsql lsp`: editors show a script's errors, warnings and types while it is written, and complete and format it.

`reading` knows the text, `server` the protocol.
"""
