"""The command ``pair2vec``, also as ``python -m pair2vec``, from its very first import on."""

import sys

from pair2vec.errors import STOPPED


def main() -> None:
    """Run the command; Ctrl-C while it is still being imported is one line, too."""
    try:
        from pair2vec.cli.main import main as run_command

        run_command()
    except KeyboardInterrupt:
        sys.stderr.write(f"pair2vec: {STOPPED}\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
