"""A small invented world with known relations: its facts, its text, and questions about it."""
