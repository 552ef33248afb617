"""What long-running commands share: storage, job folders, prefetching, devices, CUDA graphs."""
