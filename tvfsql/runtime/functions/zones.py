"""Names of time zones as Java's TimeZone reads them: an unknown one is GMT."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql.types import StringType

from tvfsql.runtime.functions.of_rows import over_arrays
from tvfsql.runtime.functions.zone_names import known_zone

java_zone = over_arrays(known_zone, pa.string(), StringType())
