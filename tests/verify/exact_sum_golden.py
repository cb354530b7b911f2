"""Prints the expected values of exact_sum_host.cpp, from Python's exact fractions: an independent computation of the same sums."""

import math
import struct
from fractions import Fraction

MASK = (1 << 64) - 1


def splitmix64(state):
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield z ^ (z >> 31)


def from_bits(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def to_bits(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def with_exponent(bits, exponent):
    return from_bits((bits & ~(0x7FF << 52)) | (exponent << 52))


def any_finite(bits):
    return with_exponent(bits, ((bits >> 52) & 0x7FF) % 0x7FF)


def rounded(exact):
    try:
        return float(exact)  # the quotient of two integers, rounded once
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def case(k, random):
    n = 1 + next(random) % 40
    if k % 4 == 0:
        return [any_finite(next(random)) for _ in range(n)]
    if k % 4 == 1:
        return [with_exponent(b, 1000 + b % 60) for b in (next(random) for _ in range(n))]
    if k % 4 == 2:
        xs = [any_finite(next(random)) for _ in range(n)]
        return xs + [-x for x in reversed(xs)] + [with_exponent(b, b % 100) for b in (next(random) for _ in range(3))]
    return [with_exponent(b, 2046 - b % 3) for b in (next(random) for _ in range(n))]


def main():
    random = splitmix64(2013)
    hash = 0xCBF29CE484222325
    infinities = 0
    for k in range(4000):
        value = rounded(sum(map(Fraction, case(k, random)), Fraction(0)))
        infinities += math.isinf(value)
        for byte in struct.pack("<d", value):
            hash = ((hash ^ byte) * 0x100000001B3) & MASK
    print(f"hash of 4000 sums: 0x{hash:016x}, {infinities} of them infinite")

    def error(xs, computed):
        exact = sum(map(Fraction, xs), Fraction(0))
        print(f"error of {computed!r} for {xs!r}: {rounded(abs(Fraction(computed) - exact) / abs(exact))!r}")

    error([0.1] * 10, 1.0)
    error([0.1] * 10, 0.9999999999999999)
    error([1.0, 2.0**-80], 1.0)
    error([1e308, 1e308], 1.7e308)
    error([3e-324, 5e-324], 0.0)
    error([1e16, 1.0, -1e16], 0.0)
    error([1.0, -1.0, 2.0**-1000], 2.0**-999)


if __name__ == "__main__":
    main()
