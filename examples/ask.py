"""Query the bundled model: analogies, patterns, similar pairs and relations, without torch.

Run it with `python examples/ask.py`; it takes about five seconds.
"""

import pair2vec


def main() -> None:
    """Print answers to one question of each kind."""
    model = pair2vec.load()

    print("france is to paris as japan is to:")
    for match in model.analogy("france", "paris", "japan", top=3):
        print(f"  {match.word:10} {match.score:.2f}")

    print("words that fit 'in portland , Y .':")
    for match in model.fill("in X , Y .", x="portland", top=3):
        print(f"  {match.word:10} {match.score:.2f}")

    print("pairs related as hot and cold, by cosine similarity:")
    for pair in model.nearest("hot", "cold", top=3):
        print(f"  {pair.x} : {pair.y}  {pair.score:.2f}")

    relations = model.relations()
    pairs = [("hot", "cold"), ("paris", "france"), ("guitar", "instrument"), ("wheel", "senate")]
    print("predicted relations:")
    for (x, y), row in zip(pairs, relations.predict_proba(pairs), strict=True):
        print(f"  {x} : {y}  {relations.names[row.argmax()]}, probability {row.max():.2f}")

    try:
        model.pair("chaep", "expensive")
    except ValueError as error:
        print(f"an unknown word is an error: {error}")


if __name__ == "__main__":
    main()
