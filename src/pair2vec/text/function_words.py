"""The function words of English."""

FUNCTION_WORDS = frozenset(
    """
    a an the this that these those there here i you he she it we they me him her us them my your
    his its our their mine yours hers ours theirs myself yourself himself herself itself ourselves
    themselves one ones someone somebody something anyone anybody anything everyone everybody
    everything who whom whose which what when where why how whether if while because since although
    though as than then so and or but nor also too very really quite just even ever still yet
    already rather almost some any each every both either such own same other another only is am
    are was were be been being do does did doing done have has had having will would shall should
    can could may might must ought of to in on at by for from with without about into onto upon
    over under above below between among through during before after against within along across
    behind beyond near off out up down around toward towards per via please not no never non
    """.split()
)
"""Words that say little by themselves."""
