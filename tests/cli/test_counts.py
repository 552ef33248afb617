"""``pair2vec pmi`` and ``pair2vec contexts`` as a user runs them."""

from pathlib import Path

from tests.command import assert_fails, pair2vec


def test_pmi_counts_a_pair_in_a_pattern(text: Path, tmp_path: Path) -> None:
    pair2vec("prepare", text, "--out", tmp_path / "corpus")
    done = pair2vec("pmi", tmp_path / "corpus", "hot", "cold", "X is the opposite of Y")
    assert done.returncode == 0
    assert "MVPMI" in done.stdout
    assert_fails(
        pair2vec("pmi", tmp_path / "corpus", "hott", "cold", "X is Y"),
        2,
        "hott",
        "did you mean hot",
    )
    assert_fails(pair2vec("pmi", tmp_path / "corpus", "hot", "cold", "X is"), 2, "Y")


def test_contexts_lists_what_a_pair_shares(text: Path, tmp_path: Path) -> None:
    pair2vec("prepare", text, "--out", tmp_path / "corpus")
    assert (
        "X is the opposite of Y ."
        in pair2vec("contexts", tmp_path / "corpus", "hot", "cold").stdout
    )
    never = pair2vec("contexts", tmp_path / "corpus", "cold", "hot")
    assert "never occur within five words" in never.stdout
    wrong = pair2vec("contexts", tmp_path / "corpus", "hot", "cold", "--by=size")
    assert_fails(wrong, 2, "count, pmi, mvpmi")
