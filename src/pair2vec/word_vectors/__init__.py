"""Word vectors: file formats, fastText on a CPU, skip-gram on a GPU, negative sampling."""
