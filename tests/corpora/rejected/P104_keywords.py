def f(x, **options):
    return x


# P104_keywords.py:1:12: P104 this kind of parameter is outside the language
#    1 | def f(x, **options):
#      |            ^^^^^^^ `**options` collects arguments
#   help: name each parameter
