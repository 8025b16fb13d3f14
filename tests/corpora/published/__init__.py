"""Functions in the manner of code that people publish, field by field.

Each is written for this corpus after public functions of the same idiom were read, and
says which idiom it is and where that was seen. None is copied.
`python -m tests.corpora.published` judges them all.
"""
