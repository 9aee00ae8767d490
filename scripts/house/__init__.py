"""The rules of the house: one module a rule, each with `breaches(tree)`. `scripts/check.py` runs them all."""
