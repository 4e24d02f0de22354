"""What tests need beside the tests: servers, scripts that ask Flink, pages made from code."""

import sys
from pathlib import Path

# CREATE FUNCTION in the tests' SQL names these modules as a user's SQL names those beside the script
MODULES = str(Path(__file__).parents[1] / "data" / "modules")
if MODULES not in sys.path:
    sys.path.append(MODULES)
