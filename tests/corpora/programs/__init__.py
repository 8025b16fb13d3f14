"""Whole programs of several functions, as people of many fields write them.

One file each: a docstring (the field, and what is computed), the functions, `program`
(the entry, a function of arrays and numbers), and `inputs(rng)`, the arguments of one
small call that keeps clear of kinks. None was written to suit pyrev.
`python -m tests.corpora.programs` prints what becomes of each.
"""
