from pyrev import custom_vjp


def square_vjp(a, result, d_result):
    return 2.0 * a * d_result


@custom_vjp(square_vjp)
def square(a):
    return a * a


def f(x):
    return square(x * 1j).imag


# P106_complex_with_a_rule.py:14:12: P106 this kind of value is outside the language
#   14 |     return square(x * 1j).imag
#      |            ^^^^^^^^^^^^^^ `square` has a derivative of its own, for real numbers
#   help: give it the parts of the complex number
