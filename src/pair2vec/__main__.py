"""``python -m pair2vec`` is the ``pair2vec`` command."""

from pair2vec.cli.main import main

if __name__ == "__main__":
    main()
