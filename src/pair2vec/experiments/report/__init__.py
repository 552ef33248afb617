"""The report: every table and figure of the paper beside what was measured."""
