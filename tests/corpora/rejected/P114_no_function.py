import math

f = math.sin


# P114 the source of this function cannot be read
#   because `sin` has no text in Python
#   help: give a function that calls it, `lambda x: ...`, if it is one of the functions in docs/language.md
