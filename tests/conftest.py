"""What all tests share: one thread a process, and no time limit for an example.

pytest-xdist runs a process a core; on a busy machine a slow example is no failure.
"""

import os
from contextlib import suppress

# Before numpy or torch is imported, which read it once.
os.environ.setdefault("OMP_NUM_THREADS", "1")

with suppress(ImportError):  # where only some tests are run, as on a machine with a GPU
    from hypothesis import HealthCheck, settings

    settings.register_profile(
        "pair2vec", deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.load_profile("pair2vec")
