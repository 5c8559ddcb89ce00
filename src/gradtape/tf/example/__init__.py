"""Examples in the docstrings of generated functions, as tables of doctests.

Functions that are written out have their example in their own docstring. `add_examples` of
`tf/public_op.py` adds the tables to docstrings.
"""
