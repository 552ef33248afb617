"""Supervised training of networks with pair vectors: what NLI and question answering share."""
