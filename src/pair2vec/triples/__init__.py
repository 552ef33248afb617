"""Triples (x, y, context): where they occur in a corpus, subsampling, and the order of an epoch."""
