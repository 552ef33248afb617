"""Which relation holds between two words, with numpy alone."""
