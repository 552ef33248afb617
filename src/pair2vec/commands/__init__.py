"""The commands: one short function each, heavy imports inside them."""
