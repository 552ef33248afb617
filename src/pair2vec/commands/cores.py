"""One core for each piece of work, where there are as many pieces at a time as cores."""

import os


def one_thread_each() -> None:
    """Keep matrix libraries from having threads of their own, which would be in each other's way.

    To be called before numpy is imported; other processes that are started take it over.
    """
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
