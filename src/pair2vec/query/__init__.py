"""Queries to a model with numpy alone: vectors, whitening, search, analogies."""
