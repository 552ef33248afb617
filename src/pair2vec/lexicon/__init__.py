"""A lexicon of a corpus: which of its terms are related, how, and where the text says so."""
