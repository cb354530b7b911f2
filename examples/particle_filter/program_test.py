"""Runs particle_filter as a user does: program_test.py [-v] PROGRAM FOLDER_OF_FLIGHTS. Python's standard library only."""

import array
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from oracle import d_sums, fnv1a, npy, read_npy, to_float32  # noqa: E402

PROGRAM = FLIGHTS = ""
# way, runs, histories, hash, step, others, estimate, difference
LINE = re.compile(r"^  (\S.*?) +(\d+) +(\d+) +([0-9a-f]{16}) +(-|\d+) +(\d+) +(\S+) +(\S+)$", re.M)


def random_bits(step, purpose, particle):
    mask = 2**64 - 1
    z = ((((2 * step + purpose) << 32 | particle) + 1) * 0x9E3779B97F4A7C15) & mask
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & mask
    return z ^ z >> 31


def weight(level, observed):
    r = to_float32(to_float32(level - observed) * 16)
    return to_float32(1 / to_float32(1 + to_float32(r * r)))


def means(elements, window):
    numbers = [x for x in elements if math.isfinite(x)]
    return [to_float32(sum(numbers[i : i + window]) / window) for i in range(0, len(numbers) - window + 1, window)]


def expected(observed, particles):
    """Hash and estimate, one particle at a time; float32 is rounded from double, which is innocent for one operation."""
    levels = [0.0] * particles
    drawn = bytearray()
    for step, y in enumerate(observed):
        for i in range(particles):
            bits = random_bits(step, 0, i)
            total = sum(bits >> shift & 0xFFFF for shift in (0, 16, 32, 48)) - 2 * 0xFFFF
            levels[i] = to_float32(levels[i] + total * 2.0**-19)
        sums = d_sums([weight(level, y) for level in levels], to_float32)
        ancestors = []
        for i in range(particles):
            threshold = (random_bits(step, 1, i) >> 32) * 2.0**-32 * sums[-1]
            low, high = 0, particles - 1
            while low < high:
                middle = (low + high) // 2
                low, high = (low, middle) if sums[middle] > threshold else (middle + 1, high)
            ancestors.append(low)
        levels = [levels[a] for a in ancestors]
        drawn += array.array("i", ancestors).tobytes()
    estimate = 0.0
    for level in levels:
        estimate += level
    return f"{fnv1a(drawn):016x}", f"{estimate / particles:.9g}"


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def values(self, elements, shape=None, descr="<f4", code="f"):
        path = os.path.join(self.folder.name, "values.npy")
        with open(path, "wb") as file:
            file.write(npy(descr, shape or (len(elements),), array.array(code, elements).tobytes()))
        return path

    def run_program(self, *arguments):
        return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=300)

    def lines(self, *arguments):
        """The lines of the table; tessera's show one history, and all of them the same."""
        run = self.run_program(*arguments)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        lines = LINE.findall(run.stdout)
        self.assertGreaterEqual(len(lines), 2, run.stdout)
        for way, _, histories, _, step, others, _, difference in lines:
            if way.startswith("tessera"):
                self.assertEqual((histories, step, others, difference), ("1", "-", "0", "0"), way)
        return lines

    def check(self, observed, particles, *arguments):
        lines = self.lines(*arguments, "--particles", str(particles), "--runs", "2")
        found = {(line[3], line[6]) for line in lines if line[0].startswith("tessera")}
        self.assertEqual(found, {expected(observed, particles)})


class Filter(Case):
    def test_the_same_as_one_particle_at_a_time(self):
        elements = [to_float32((i * 7919 % 1000) / 1000 - 0.25) for i in range(20)]
        path = self.values(elements)
        for particles in (1, 2, 3, 511, 512, 513, 2100):
            with self.subTest(particles=particles):
                self.check(means(elements, 4), particles, path, "--window", "4")

    def test_columns_and_rows_without_a_number(self):
        elements = [math.nan, 0.5, 0.1, 0.4, 0.2, math.nan, 0.3, 0.3, math.inf, 0.2]
        path = self.values(elements, (5, 2))
        for column in (0, 1):
            numbers = [to_float32(x) for x in elements[column::2]]
            self.check(means(numbers, 2), 100, path, "--window", "2", "--column", str(column))

    # So far off that all weights are 0: the last particle is everyone's ancestor.
    def test_an_observation_beyond_reason(self):
        self.check([to_float32(3e38)], 10, self.values([3e38]), "--window", "1")

    def test_steps(self):
        path = self.values([0.1, 0.2, 0.3])
        self.check([to_float32(0.1), to_float32(0.2)], 50, path, "--window", "1", "--steps", "2")


class Flights(Case):
    def setUp(self):
        super().setUp()
        self.path = os.path.join(FLIGHTS, "values.npy")
        if not os.path.exists(self.path):
            self.skipTest(f"the converted flights are not in {FLIGHTS}: scripts/setup demo makes them")

    def test_the_same_as_one_particle_at_a_time(self):
        shape, elements = read_npy(self.path)
        observed = means(elements[:: shape[1]], 1000)
        self.assertEqual(len(observed), 328)
        self.check(observed[:25], 1000, self.path, "--steps", "25")

    # Where the sums depend on the number of threads, so do the particles.
    def test_another_order_draws_other_particles(self):
        lines = self.lines(self.path, "--steps", "10", "--particles", "20000", "--runs", "3")
        for way, runs, histories, _, step, others, _, _ in lines:
            if way.startswith("a part for each thread"):
                self.assertEqual(runs, histories)
                self.assertGreater(int(step), 0)
                self.assertGreater(int(others), 0)


class Faults(Case):
    """Each names the fault, and ends with 2."""

    def expect(self, sentence, *arguments):
        run = self.run_program(*arguments)
        self.assertEqual(run.returncode, 2, run.stdout)
        self.assertIn(sentence, run.stderr)

    def test_files(self):
        self.expect("/nowhere/x.npy: there is no such file", "/nowhere/x.npy")
        self.expect("holds elements of type '<f8'", self.values([1, 2], descr="<f8", code="d"))
        self.expect("has shape (1, 1, 2); one or two dimensions are needed", self.values([1, 2], (1, 1, 2)))
        self.expect("has no column 2, but 2 columns", self.values([1, 2, 3, 4], (2, 2)), "--column", "2")
        self.expect("has no 1000 numbers in column 0", self.values([1, 2, 3]))

    def test_arguments(self):
        path = self.values([1, 2, 3])
        self.expect("--steps 4: there are 3 windows of 1 rows", path, "--window", "1", "--steps", "4")
        for arguments in (("--particles", "0"), ("--runs", "0"), ("--window", "0"), ("--column", "-1"), ("--unknown",)):
            self.expect(arguments[0], path, *arguments)
        self.expect("values is required")
        self.assertEqual(self.run_program("--help").returncode, 0)


if __name__ == "__main__":
    FLIGHTS = sys.argv.pop()
    PROGRAM = sys.argv.pop()
    unittest.main()
