"""What the tests of the examples share: D, float32 and FNV-1a in Python, and .npy files. Python's standard library only."""

import array
import math
import struct


def to_float32(x):
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


# D by a binary counter of partial sums: [(size, sum)], the largest first.


def push(counter, value, rounded):
    """One value more: equal sizes join, and carry."""
    size = 1
    while counter and counter[-1][0] == size:
        value = rounded(counter.pop()[1] + value)
        size *= 2
    counter.append((size, value))


def collapse(counter, rounded):
    """D of all that was pushed: what is left joins, the smallest first."""
    result = counter[-1][1]
    for _, node in reversed(counter[:-1]):
        result = rounded(node + result)
    return result


def d_sum(values, rounded):
    counter = []
    for value in values:
        push(counter, value, rounded)
    return collapse(counter, rounded)


def d_sums(values, rounded):
    """D of each prefix."""
    counter, sums = [], []
    for value in values:
        push(counter, value, rounded)
        sums.append(collapse(counter, rounded))
    return sums


def fnv1a(content):
    value = 0xCBF29CE484222325
    for byte in content:
        value = ((value ^ byte) * 0x100000001B3) & (2**64 - 1)
    return value


def npy(descr, shape, content, order=False):
    header = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape!r}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + content


def read_npy(path):
    with open(path, "rb") as file:
        content = file.read()
    length = struct.unpack("<H", content[8:10])[0]
    header = eval(content[10 : 10 + length].decode(), {})  # our own program's output
    code = {"<f4": "f", "<f8": "d", "<i4": "i", "<i8": "q"}[header["descr"]]
    return header["shape"], list(array.array(code, content[10 + length :]))
