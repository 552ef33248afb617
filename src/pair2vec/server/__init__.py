"""The HTTP API and the explorer page: what ``pair2vec serve`` runs."""
