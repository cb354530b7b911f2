"""Prints the golden values of dyadic.cpp: D by its recursive definition and by a binary counter, in Python alone.

A sum of two float32 is exact enough in Python's float64 for its rounding to float32 to be the right one (53 >= 2 * 24 + 2 bits).
"""

import ctypes
import struct

MASK32 = (1 << 32) - 1
MASK64 = (1 << 64) - 1


def as_float32(x):
    return ctypes.c_float(x).value


def as_float64(x):
    return x


def fnv1a(words):
    value = 0xCBF29CE484222325
    for byte in words:
        value = ((value ^ byte) * 0x100000001B3) & MASK64
    return value


def input_values(n):
    """24-bit signed integers times powers of two between 2^-39 and 2^-8."""
    for i in range(n):
        a = (i * 2654435761) & MASK32
        m = (a >> 8) - (1 << 23)
        e = (((i * 40503) & MASK32) >> 4) & 31
        yield m * 2.0 ** (e - 39)


def d_by_definition(x, rounded):
    if len(x) == 1:
        return x[0]
    m = 1 << ((len(x) - 1).bit_length() - 1)
    return rounded(d_by_definition(x[:m], rounded) + d_by_definition(x[m:], rounded))


def left_fold(x, rounded):
    total = x[0]
    for value in x[1:]:
        total = rounded(total + value)
    return total


def inclusive_scan(x, rounded):
    """y[i] = D(x[0 .. i]); the prefix's nodes from the largest to the smallest, joined from the smallest up."""
    nodes = []
    for i, value in enumerate(x):
        carries = i + 1
        while carries % 2 == 0:
            value = rounded(nodes.pop() + value)
            carries //= 2
        nodes.append(value)
        prefix = nodes[-1]
        for node in reversed(nodes[:-1]):
            prefix = rounded(node + prefix)
        yield prefix


def bits32(x):
    return "0x%08X" % struct.unpack("<I", struct.pack("<f", x))[0]


def bits64(x):
    return "0x%016X" % struct.unpack("<Q", struct.pack("<d", x))[0]


def report(name, x, rounded, bits, code):
    d = d_by_definition(x, rounded)
    scan = list(inclusive_scan(x, rounded))
    assert bits(scan[-1]) == bits(d)
    hash = fnv1a(b"".join(struct.pack(code, y) for y in scan))
    print(f"{name}: D {bits(d)}, left fold {bits(left_fold(x, rounded))}, hash of the inclusive scan 0x{hash:016X}")


def prefix_hash(x, rounded, code):
    return fnv1a(b"".join(struct.pack(code, d_by_definition(x[: n + 1], rounded)) for n in range(len(x))))


def main():
    # Lengths that leave a node of nearly every size: what is joined from the smallest up.
    for n in (16376, 32760, 65528, 131064):
        x = list(input_values(n))
        print(f"float32, n = {n}: D {bits32(d_by_definition(x, as_float32))}, left fold {bits32(left_fold(x, as_float32))}")
    x = list(input_values(2000))
    print(f"float32: hash of D of the first 1 .. 2000 values 0x{prefix_hash(x, as_float32, '<f'):016X}")
    report("float32, n = 1000003", list(input_values(1000003)), as_float32, bits32, "<f")
    report("float32, n = 164738", list(input_values(164738)), as_float32, bits32, "<f")
    report("float64, n = 164738, each a third", [x / 3 for x in input_values(164738)], as_float64, bits64, "<d")
    report("float64, n = 250000, all 0.1", [0.1] * 250000, as_float64, bits64, "<d")


if __name__ == "__main__":
    main()
