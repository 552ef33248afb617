"""Entries between a few words, which contradict each other."""

from hypothesis import strategies as st

from pair2vec.lexicon.thesaurus import LexiconEntry

_WORDS = st.sampled_from("abcde")
ENTRIES_OF_FEW_WORDS = st.lists(
    st.builds(
        LexiconEntry,
        x=_WORDS,
        relation=st.sampled_from(
            ["antonym", "synonym", "synonym", "hypernym", "hyponym", "located-in"]
        ),
        y=_WORDS,
        probability=st.floats(0, 1),
        evidence=st.just([]),
    ),
    max_size=12,
)
