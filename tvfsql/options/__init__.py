"""The options that SET and `--set` accept.

`options[STATE_TTL]` is a value of the option's type; the text that was set is parsed in `readers.py`
alone. Keys that begin with `spark.` are Spark's own settings: `options.spark`.
"""

from tvfsql.options.values import Options as Options
from tvfsql.options.values import StreamOptions as StreamOptions
