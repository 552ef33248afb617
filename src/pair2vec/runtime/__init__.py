"""What long-running commands share: atomic files, job folders, prefetching, devices, CUDA graphs."""
