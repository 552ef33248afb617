"""What rich prints, as text."""

import io

from rich.console import Console, RenderableType


def rendered(content: RenderableType, width: int = 80) -> str:
    """On a terminal without colours."""
    file = io.StringIO()
    Console(file=file, width=width, color_system=None).print(content)
    return file.getvalue()
