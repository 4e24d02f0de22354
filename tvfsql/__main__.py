"""python -m tvfsql"""

import sys

from tvfsql.cli import main

sys.exit(main())
