"""Programs of ``benchmarks/`` are no package: they import each other from their folder."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
