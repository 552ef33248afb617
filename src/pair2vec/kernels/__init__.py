"""Operations with a Triton kernel for GPUs and a plain torch version for every device."""
