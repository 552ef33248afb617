"""The rows of the ablations: what each changes of recipe `fast`."""

from argparse import Namespace

from ablations import ROWS, rows_of
from pair2vec.training.recipes import fast


def test_rows_differ_from_fast_in_their_ablation_alone() -> None:
    arguments = Namespace(rows=[*ROWS], counts=[], settings=[], triples=10**6)
    recipes = {row.name: row.recipe for row in rows_of(arguments)}
    full = recipes["fast"]
    assert (full.pair, full.negatives, full.triples) == (
        fast().pair,
        fast().negatives,
        fast().triples,
    )
    assert full.training.steps == 10**6 // full.training.batch
    assert (recipes["2_layers"].pair.layers, recipes["2_layers"].pair.length) == (2, 300**0.5)
    assert recipes["bivariate"].negatives.words == recipes["bivariate"].negatives.typed == 0
    assert recipes["multiply"].pair.composition == "multiply"
    # At the length of `fast` its vectors would be 17 times as long as those of the mlp.
    assert recipes["multiply"].pair.length == 300**0.25
    assert recipes["pair_distance"].pair.composition == "difference"
    assert recipes["pair_distance"].training.epochs == 0
    trained = [name for name, recipe in recipes.items() if recipe.training.epochs]
    assert len({recipes[name].training.steps for name in trained}) == 1
