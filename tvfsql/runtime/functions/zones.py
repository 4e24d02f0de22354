"""Names of time zones as Java's TimeZone reads them: an unknown one is GMT."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql.types import StringType

from tvfsql.plan.values.zone_names import known_zone
from tvfsql.runtime.functions.of_rows import over_arrays

java_zone = over_arrays(known_zone, pa.string(), StringType())
