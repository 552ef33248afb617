"""From a corpus to a model: negatives, objective, loop, checkpoints, recipes."""
