"""Reproduction of the paper's tables: NLI, QA, analogies, slots, the mini-world and the report.

Nothing outside imports it but the command line.
"""
