"""R(x, y) and C(c), and the word vectors they start from."""
