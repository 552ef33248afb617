"""From a corpus to a model: recipes, batches, objective, optimisers, loop, checkpoints."""
