"""The pair encoder R(x, y) and the context encoder C(c)."""
