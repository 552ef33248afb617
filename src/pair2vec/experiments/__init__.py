"""Reproduction of the paper's tables: NLI, QA, analogies, slots and the report. Nothing outside imports it but the command line."""
