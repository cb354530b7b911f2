"""Runs reduce_by_key as a user does: program_test.py [-v] PROGRAM FOLDER_OF_FLIGHTS. Python's standard library only."""

import array
import math
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from oracle import d_sum, fnv1a, npy, read_npy, to_float32  # noqa: E402

PROGRAM = FLIGHTS = ""
# level, where, how, runs, patterns, hash, noise
LINE = re.compile(
    r"^  (gpu_to_gpu|atomics) on the (GPU|host)(?:, )?(.*?) +(\d+) +(\d+) +([0-9a-f]{16}) +\S+ +\S+ +\S+ +(-|\d+ of \d+)$", re.M
)

# FNV-1a of the sums of the flights; made by `program_test.py --golden FOLDER`, which adds in D's order one float at a time.
GOLDEN = {"aircraft": "eaba6695650d0f88", "carrier": "cdd04060993ec689", "destination": "e64cbeac9f634b5e"}


def expected_sums(values, columns, rows, groups, rounded):
    lists = [[] for _ in range(groups)]
    for i, row in enumerate(rows):
        if row >= 0:
            lists[row].append(i)
    sums = []
    for members in lists:
        for c in range(columns):
            sums.append(0.0 + d_sum([values[i * columns + c] for i in members], rounded) if members else 0.0)
    return sums, [len(members) for members in lists]


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)
        return self.path(name)

    def run_program(self, *arguments):
        return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=300)

    def values(self, columns, elements, code="f", n=None):
        n = len(elements) // columns if n is None else n
        return self.write("values.npy", npy({"f": "<f4", "d": "<f8"}[code], (n, columns), array.array(code, elements).tobytes()))

    def keys(self, rows, code="i", name="key.npy"):
        return self.write(name, npy({"i": "<i4", "q": "<i8"}[code], (len(rows),), array.array(code, rows).tobytes()))


class Sums(Case):
    def check(self, columns, rows, code="f", key_code="i", extra=()):
        """Sums of mixed magnitudes, saved and compared with D as bits."""
        rounded = to_float32 if code == "f" else float
        elements = []
        for i in range(len(rows) * columns):
            word = (i * 2654435761) & 0xFFFFFFFF
            elements.append(rounded(math.ldexp((word >> 8) - 2**23, (((i * 40503) >> 4) & 15) - 30)))
        groups = max(rows, default=-1) + 1
        files = ("--values", self.values(columns, elements, code, len(rows)), "--rows", self.keys(rows, key_code))
        run = self.run_program(*files, "--runs", "3", "--save", self.folder.name, *extra)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        sums, counts = expected_sums(elements, columns, rows, max(groups, 0), rounded)
        shape, found = read_npy(self.path("key_sums.npy"))
        self.assertEqual(shape, (groups, columns))
        self.assertEqual(array.array(code, found).tobytes(), array.array(code, sums).tobytes())
        self.assertEqual(read_npy(self.path("key_counts.npy")), ((groups,), counts))
        means = [rounded(s / rounded(counts[i // columns])) if counts[i // columns] else math.nan for i, s in enumerate(sums)]
        self.assertEqual([str(x) for x in read_npy(self.path("key_means.npy"))[1]], [str(x) for x in means])
        hashes = {line[5] for line in LINE.findall(run.stdout) if line[0] == "gpu_to_gpu"}
        self.assertEqual(hashes, {f"{fnv1a(array.array(code, sums).tobytes()):016x}"}, run.stdout)
        return run

    def test_widths(self):
        for columns in (1, 3, 8, 9, 32, 33, 128, 129, 300):
            with self.subTest(columns=columns):
                self.check(columns, [(i * 7919) % 11 - 1 for i in range(100)])

    def test_row_counts(self):
        for n in (0, 1, 2, 31, 32, 33, 1000):
            with self.subTest(n=n):
                self.check(5, [(i * i) % 7 for i in range(n)])

    def test_one_hot_key(self):
        self.check(8, [0] * 5000)

    def test_every_row_left_out(self):
        self.check(2, [-1, -2, -(2**31)])

    def test_no_columns(self):
        self.check(0, [0, 1, 1])

    def test_float64_and_64_bit_keys(self):
        self.check(3, [(i * 31) % 5 - 1 for i in range(333)], code="d", key_code="q")
        self.check(3, [-(2**63), 2, -1, 0], key_code="q")

    def test_every_lane_count_gives_the_same_line(self):
        run = self.check(8, [(i * 31) % 50 for i in range(2000)], extra=("--lanes", "1,4,8"))
        lanes = [line for line in LINE.findall(run.stdout) if line[0] == "gpu_to_gpu" and line[1] == "host"]
        self.assertEqual([line[2] for line in lanes], ["1 lane", "4 lanes", "8 lanes"])
        self.assertEqual({line[4] for line in lanes}, {"1"})

    def test_one_dimension_of_values(self):
        values = self.write("values.npy", npy("<f4", (3,), struct.pack("<3f", 1, 2, 4)))
        run = self.run_program("--values", values, "--rows", self.keys([0, 0, 1]), "--runs", "1", "--save", self.folder.name)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(read_npy(self.path("key_sums.npy")), ((2, 1), [3.0, 4.0]))

    def test_names_are_shown(self):
        names = self.write("names.txt", b"apple\npear\nplum\n")
        columns = self.write("columns.txt", b"weight\n")
        run = self.run_program(
            "--values", self.values(1, [1, 2, 4]), "--rows", self.keys([0, 0, 2]), "--names", names, "--columns", columns, "--runs", "1"
        )
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stdout, r"key +count +weight\n")
        self.assertRegex(run.stdout, r"apple +2 +sum +3\n +mean +1.5\n")
        self.assertRegex(run.stdout, r"pear +0 +sum +0\n +mean +-\n")

    def test_a_nan_is_a_fault(self):
        run = self.run_program("--values", self.values(1, [1, math.nan]), "--rows", self.keys([0, 1]), "--runs", "1")
        self.assertEqual(run.returncode, 1)
        self.assertIn("FAULT: key: the sum of column 0 for key 1 is NaN", run.stdout)
        left_out = self.run_program("--values", self.values(1, [1, math.nan]), "--rows", self.keys([0, -1]), "--runs", "1")
        self.assertEqual(left_out.returncode, 0, left_out.stdout)

    def test_levels(self):
        files = ("--values", self.values(1, [1, 2]), "--rows", self.keys([0, 1]), "--runs", "2", "--backend", "host")
        self.assertNotIn("gpu_to_gpu on", self.run_program(*files, "--level", "not_guaranteed").stdout)
        self.assertNotIn("atomics on", self.run_program(*files, "--level", "gpu_to_gpu").stdout)

    def test_several_keys(self):
        a, b = self.keys([0, 1, 1], name="a.npy"), self.keys([0, 0, 0], name="b.npy")
        run = self.run_program("--values", self.values(1, [1, 2, 3]), "--rows", a, "--rows", b, "--runs", "1")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stdout, r"(?s)a: 3 rows, 0 of them left out, 2 keys.*b: 3 rows, 0 of them left out, 1 keys")

    # Where several cores add in order of arrival, that shows; on one core the program says why not.
    def test_canary(self):
        n = 60000
        elements = [to_float32(1 / (1 + (i * 7919) % 1000)) for i in range(n)]
        files = ("--values", self.values(1, elements), "--rows", self.keys([i % 3 for i in range(n)]))
        run = self.run_program(*files, "--runs", "60", "--lanes", "1", "--require-canary")
        self.assertEqual(run.returncode, 0, run.stdout)
        if os.sched_getaffinity(0) and len(os.sched_getaffinity(0)) == 1:
            self.assertIn("one core adds in one order, and shows no race", run.stdout)


class Faults(Case):
    """Each names the file and the fault, and ends with 2."""

    def expect(self, sentence, *arguments):
        run = self.run_program(*arguments)
        self.assertEqual(run.returncode, 2, run.stdout)
        self.assertIn(sentence, run.stderr)
        self.assertEqual(len(run.stderr.strip().splitlines()), 1, run.stderr)

    def setUp(self):
        super().setUp()
        self.good_values = self.values(2, [1, 2, 3, 4, 5, 6])
        self.good_keys = self.keys([0, 1, 0])
        self.good = ("--values", self.good_values, "--rows", self.good_keys)

    def expect_values(self, sentence, content):
        path = self.write("bad.npy", content)
        self.expect(f"{path}: {sentence}", "--values", path, "--rows", self.good_keys)

    def expect_keys(self, sentence, content):
        path = self.write("bad.npy", content)
        self.expect(f"{path}: {sentence}", "--values", self.good_values, "--rows", path)

    def test_missing(self):
        self.expect("/nowhere/x.npy: there is no such file", "--values", "/nowhere/x.npy", "--rows", self.good_keys)
        self.expect("/nowhere/x.npy: there is no such file", "--values", self.good_values, "--rows", "/nowhere/x.npy")
        self.expect("/nowhere/x.txt: the text file cannot be opened", *self.good, "--names", "/nowhere/x.txt")
        self.expect("/nowhere: there is no such folder", "/nowhere")
        self.expect("--values and --rows, or a folder with both, are needed")

    def test_truncated(self):
        whole = npy("<f4", (3, 2), bytes(24))
        self.expect_values("is truncated", whole[:-1])
        self.expect_values("is truncated", whole[:100])
        self.expect_values("is no .npy file", whole[:3])
        self.expect_values("is longer than its header says", whole + b"x")

    def test_types(self):
        self.expect_values("holds '>f4', which is big-endian", npy(">f4", (3, 2), bytes(24)))
        self.expect_values("holds elements of type '<i4'", npy("<i4", (3, 2), bytes(24)))
        self.expect_values("holds elements of type '<f2'", npy("<f2", (3, 2), bytes(12)))
        self.expect_keys("holds elements of type '<f4'", npy("<f4", (3,), bytes(12)))
        self.expect_keys("holds '>i4', which is big-endian", npy(">i4", (3,), bytes(12)))
        self.expect_values("is in Fortran order", npy("<f4", (3, 2), bytes(24), True))

    def test_shapes(self):
        self.expect_values("has shape (1, 3, 2)", npy("<f4", (1, 3, 2), bytes(24)))
        self.expect_values("has shape ()", npy("<f4", (), bytes(4)))
        self.expect_keys("has shape (3, 1); keys have one dimension", npy("<i4", (3, 1), bytes(12)))
        self.expect_keys("has 4 keys, and ", npy("<i4", (4,), bytes(16)))

    def test_keys_and_names(self):
        self.expect_keys("key 5000000000 at position 1 is beyond 2147483646", npy("<i8", (3,), struct.pack("<3q", 0, 5000000000, 1)))
        self.expect_keys("key 2147483647 at position 2 is beyond 2147483646", npy("<i4", (3,), struct.pack("<3i", 0, 1, 2**31 - 1)))
        names = self.write("names.txt", b"only one\n")
        self.expect(f"{names}: has 1 names, and key 1 occurs in", *self.good, "--names", names)
        self.expect(f"{names}: has 1 names, and {self.good_values} has 2 columns", *self.good, "--columns", names)
        self.expect("--names is given 1 times and --rows 2 times", *self.good, "--rows", self.good_keys, "--names", names)

    def test_arguments(self):
        for arguments in (("--level", "best"), ("--runs", "0"), ("--lanes", "3"), ("--backend", "tpu"), ("--unknown",)):
            run = self.run_program(*self.good, *arguments)
            self.assertEqual(run.returncode, 2, run.stdout)
            self.assertIn(arguments[0], run.stderr + run.stdout)
        self.assertEqual(self.run_program("--help").returncode, 0)

    def test_a_backend_that_is_not_there(self):
        run = self.run_program(*self.good, "--backend", "cuda", "--runs", "1")
        if run.returncode != 0:
            self.assertEqual(run.returncode, 2)
            self.assertIn("--backend cuda: ", run.stderr)


class Flights(Case):
    def setUp(self):
        super().setUp()
        if not os.path.exists(os.path.join(FLIGHTS, "values.npy")):
            self.skipTest(f"the converted flights are not in {FLIGHTS}: scripts/setup demo makes them")

    def test_golden_hashes(self):
        run = self.run_program(FLIGHTS, "--runs", "3", "--misalign", "--threads", "32,64,128,256,512,1024", "--cap", "0,1,7,100")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertNotIn("nan", run.stdout.lower())
        parts = re.split(r"^(\w+): 336776 rows, 9430 of them left out, (\d+) keys, 8 columns of float32$", run.stdout, flags=re.M)
        found = {title: (int(groups), text) for title, groups, text in zip(parts[1::3], parts[2::3], parts[3::3])}
        self.assertEqual({title: groups for title, (groups, _) in found.items()}, {"aircraft": 4043, "carrier": 16, "destination": 105})
        for title, (_, text) in found.items():
            lines = [line for line in LINE.findall(text) if line[0] == "gpu_to_gpu"]
            self.assertGreaterEqual(len(lines), 3)
            self.assertEqual({line[4] for line in lines}, {"1"}, text)
            self.assertEqual({line[5] for line in lines}, {GOLDEN[title]}, text)


def flights_golden(folder):
    """Prints GOLDEN, from the converted flights: ten seconds or so."""
    _, values = read_npy(os.path.join(folder, "values.npy"))
    for title in GOLDEN:
        _, rows = read_npy(os.path.join(folder, f"{title}.npy"))
        sums, _ = expected_sums(values, 8, rows, max(rows) + 1, to_float32)
        print(title, f"{fnv1a(array.array('f', sums).tobytes()):016x}")


if __name__ == "__main__":
    if sys.argv[1] == "--golden":
        flights_golden(sys.argv[2])
    else:
        FLIGHTS = sys.argv.pop()
        PROGRAM = sys.argv.pop()
        unittest.main()
