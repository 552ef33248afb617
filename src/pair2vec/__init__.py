"""Learn from plain text which relation holds between two words."""

__version__ = "0.1.0"
