"""Benchmarks of a model: analogies, relation classification, slot filling; and result files."""
