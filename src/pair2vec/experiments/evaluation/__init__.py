"""What a model knows, measured."""
