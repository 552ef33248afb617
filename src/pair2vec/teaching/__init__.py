"""The taught recipe: labelled pairs, the teachers, and what they label."""
