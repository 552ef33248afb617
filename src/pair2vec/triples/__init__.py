"""Triples (x, y, context): where they are in a corpus, which are kept, in what order they come."""
