class Model:
    rate = 0.5

    def step(self, x):
        return x * self.rate


f = Model().step


# P114 the source of this function cannot be read
#   because `step` is a method, which belongs to an object
#   help: write a function of the numbers and arrays that it needs, and call that from the method
