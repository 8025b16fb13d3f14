def f(x):
    return x


f = eval("lambda x: x * x")


# P114 the source of this function cannot be read
#   because `<lambda>` was defined where no file keeps its text (<string>)
#   help: define it in a file, a notebook cell or with a `linecache` entry
