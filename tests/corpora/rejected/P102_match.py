def f(x, k):
    y = x
    match k:
        case 0:
            y = 2.0 * x
    return y


# P102_match.py:3:5: P102 this statement is outside the language
#    3 |     match k:
#      |     ^^^^^^^^ `match` compares structures
#   help: write `if` and `elif`
