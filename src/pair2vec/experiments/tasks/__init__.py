"""Learning from labelled examples: the loop, batches and sequences that such tasks share."""
