"""What scripts/record_benchmarks writes of scans and reductions: tables and pictures."""

import re

import svg

DOES_NOT_COMPILE = "does not compile"
TYPES = ("f32", "f64", "f16", "int32", "int64")


def slug(text):
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")


def table(heads, rows):
    """Markdown; the first column to the left, figures to the right."""
    lines = [heads, ["---"] + ["---:"] * (len(heads) - 1), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


def number(value, digits):
    return "–" if value is None else f"{value:.{digits}f}"


def where(result):
    """Of what device and build: the first words of a caption."""
    return (
        f"**{result['device']}** (compute capability {result['compute_capability']}, {result['multiprocessors']} multiprocessors, "
        f"{result['l2_bytes'] / 2**20:.0f} MiB of L2), driver {result['driver'] or 'unknown'}, CUDA runtime {result['cuda_runtime']}"
    )


def built(result):
    # Twelve digits are enough; what follows them, as "-dirty", is not left out.
    commit = re.sub(r"^([0-9a-f]{12})[0-9a-f]+", r"\1", result["commit"])
    return f"commit {commit}, {result['date']}"


class Case:
    """One case of a result: its figures by name, None where there is none."""

    def __init__(self, case):
        self.case = case
        self.unit = "nanoseconds_a_tile" if "nanoseconds_a_tile" in case else "milliseconds"

    def __getitem__(self, key):
        return self.case[key]

    def time(self, name):
        return self.case[self.unit].get(name, {}).get("median")

    def text(self, name, digits=4, strong=False):
        if name in self.case["absent"]:
            return DOES_NOT_COMPILE if "compile" in self.case["absent"][name] else "–"
        if any(fault.startswith(f"{name}:") for fault in self.case["faults"]):
            return "wrong result"
        text = number(self.time(name), digits)
        return f"**{text}**" if strong else text

    def ratio(self, name, to):
        a, b = self.time(name), self.time(to)
        return "–" if a is None or not b else f"{a / b:.2f}"

    def terabytes(self, name, passes):
        """TB/s, where each pass reads or writes all elements once."""
        time = self.time(name)
        return None if not time else passes * self.case["count"] * self.case["element_bytes"] / time * 1e-9

    def gigabytes(self, name, passes):
        rate = self.terabytes(name, passes)
        return None if rate is None else 1000 * rate

    @property
    def size(self):
        return short_number(self.case["count"])


def short_number(count):
    for unit, name in ((2**30, "G"), (2**20, "M"), (2**10, "K")):
        if count and count % unit == 0:
            return f"{count // unit}{name}"
    return f"{count:,}"


def cases_of(result, group, **wanted):
    return [Case(c) for c in result["cases"] if c["group"] == group and all(c.get(k) == v for k, v in wanted.items())]


def caption(result):
    return f"{where(result)}, CUB of CCCL {result['cccl']}, {built(result)}. Milliseconds; K is 2^10, M is 2^20, G is 2^30."


def method(result):
    return (
        f"All columns of a row in turns, in one run; a graph has so many launches that it takes about a millisecond; median of {result['replays']} replays "
        f"after {result['warm_up_replays']} to warm up."
    )


# --- Tables


def scan_tables(result):
    yield caption(result)
    yield ""
    yield picture_line(result, "scan", "GB/s against size of CUB's scan, tessera's and a copy, for each element type")
    for name in TYPES:
        cases = cases_of(result, "array", type=name)
        if not cases:
            continue
        in_float = ["CUB, added in float"] if name == "f16" else []
        yield ""
        yield from table(
            [name, "copy", "CUB inclusive", *in_float, "**tessera inclusive**", "CUB exclusive", "**tessera exclusive**", "tessera backward"]
            + ["inclusive to CUB", "exclusive to CUB", "inclusive to copy", "TB/s"],
            [
                [
                    case.size,
                    case.text("copy"),
                    case.text("cub_inclusive"),
                    *([case.text("cub_inclusive_float")] if in_float else []),
                    case.text("tessera_inclusive", strong=True),
                    case.text("cub_exclusive"),
                    case.text("tessera_exclusive", strong=True),
                    case.text("tessera_backward"),
                    case.ratio("tessera_inclusive", "cub_inclusive"),
                    case.ratio("tessera_exclusive", "cub_exclusive"),
                    case.ratio("tessera_inclusive", "copy"),
                    number(case.terabytes("tessera_inclusive", 2), 2),
                ]
                for case in cases
            ],
        )
    misaligned = [case for case in cases_of(result, "array") if case.time("tessera_misaligned") is not None]
    if misaligned:
        yield ""
        yield "Input and output one element past an aligned address:"
        yield ""
        yield from table(
            ["inclusive", "CUB", "**tessera**", "to CUB", "tessera to itself, aligned"],
            [
                [
                    f"{case['type']} {case.size}",
                    case.text("cub_misaligned"),
                    case.text("tessera_misaligned", strong=True),
                    case.ratio("tessera_misaligned", "cub_misaligned"),
                    case.ratio("tessera_misaligned", "tessera_inclusive"),
                ]
                for case in misaligned
            ],
        )
    yield ""
    yield method(result)


def reduce_tables(result):
    yield caption(result)
    yield ""
    yield picture_line(result, "reduce", "GB/s against size of CUB's reduction, tessera's and a copy, for each element type")
    for name in TYPES:
        cases = cases_of(result, "array", type=name)
        if not cases:
            continue
        in_float = ["CUB, added in float"] if name == "f16" else []
        yield ""
        yield from table(
            [name, "copy", "CUB", *in_float, "**tessera**", "to CUB", "to copy", "TB/s"],
            [
                [
                    case.size,
                    case.text("copy"),
                    case.text("cub_reduce"),
                    *([case.text("cub_reduce_float")] if in_float else []),
                    case.text("tessera_reduce", strong=True),
                    case.ratio("tessera_reduce", "cub_reduce"),
                    case.ratio("tessera_reduce", "copy"),
                    number(case.terabytes("tessera_reduce", 1), 2),
                ]
                for case in cases
            ],
        )
    other = [case for case in cases_of(result, "array") if case.time("tessera_reduce_misaligned") is not None]
    if other:
        yield ""
        yield "From one element past an aligned address; and of every second element, which CUB reads by an iterator:"
        yield ""
        yield from table(
            ["", "CUB, misaligned", "**tessera, misaligned**", "to CUB", "tessera to itself, aligned"]
            + ["CUB, every second", "**tessera, every second**", "to CUB", "tessera to itself, dense"],
            [
                [
                    f"{case['type']} {case.size}",
                    *(
                        text
                        for layout in ("misaligned", "strided")
                        for text in (
                            case.text(f"cub_reduce_{layout}"),
                            case.text(f"tessera_reduce_{layout}", strong=True),
                            case.ratio(f"tessera_reduce_{layout}", f"cub_reduce_{layout}"),
                            case.ratio(f"tessera_reduce_{layout}", "tessera_reduce"),
                        )
                    ),
                ]
                for case in other
            ],
        )
    yield ""
    yield method(result)


def segmented_tables(result):
    cases = cases_of(result, "segmented")
    yield caption(result)

    def name(case):
        return case["name"].removeprefix("segmented f32 ")

    yield ""
    yield from table(
        ["scan of f32", "copy", "CUB, unsegmented", "tessera, unsegmented", "CUB by key", "**by offsets**", "**by keys**", "**by flags**"]
        + ["by keys to CUB", "by offsets to unsegmented CUB", "by offsets to copy"],
        [
            [
                name(case),
                *(case.text(column) for column in ("copy", "cub_inclusive", "tessera_inclusive", "cub_inclusive_by_key")),
                *(case.text(f"tessera_scan_by_{how}", strong=True) for how in ("offsets", "keys", "flags")),
                case.ratio("tessera_scan_by_keys", "cub_inclusive_by_key"),
                case.ratio("tessera_scan_by_offsets", "cub_inclusive"),
                case.ratio("tessera_scan_by_offsets", "copy"),
            ]
            for case in cases
        ],
    )
    yield ""
    yield from table(
        ["reduction of f32", "copy", "CUB, unsegmented", "tessera, unsegmented", "CUB segmented", "**by offsets**", "**by keys**"]
        + ["by offsets to CUB segmented", "by offsets to unsegmented CUB"],
        [
            [
                name(case),
                *(case.text(column) for column in ("copy", "cub_reduce", "tessera_reduce", "cub_segmented_reduce")),
                *(case.text(f"tessera_reduce_by_{how}", strong=True) for how in ("offsets", "keys")),
                case.ratio("tessera_reduce_by_offsets", "cub_segmented_reduce"),
                case.ratio("tessera_reduce_by_offsets", "cub_reduce"),
            ]
            for case in cases
        ],
    )
    rows = cases_of(result, "rows")
    if rows:
        yield ""
        yield "Rows of columns, by offsets; beside a copy of the rows, and CUB's reduction of all their elements to one sum, for reading them:"
        yield ""
        yield from table(
            ["reduction of rows of f32", "copy", "CUB, one sum", "**segments of rows**", "to copy", "to one sum", "TB/s"],
            [
                [
                    case["name"].removeprefix("rows f32 "),
                    case.text("copy"),
                    case.text("cub_reduce"),
                    case.text("tessera_rows", strong=True),
                    case.ratio("tessera_rows", "copy"),
                    case.ratio("tessera_rows", "cub_reduce"),
                    number(case.terabytes("tessera_rows", 1 + case["segments"] / case["rows"]), 2),
                ]
                for case in rows
            ],
        )
    yield ""
    yield method(result)


def block_tables(result):
    yield f"{where(result)}, CUB of CCCL {result['cccl']}, {built(result)}. Nanoseconds a tile of f32 in registers."
    for title, alone in (("all multiprocessors full, a tile on one of them", False), ("one block alone", True)):
        pairs = {}
        for case in cases_of(result, "block"):
            if (case["blocks"] == 1) == alone:
                pairs.setdefault((case["threads"], case["items"]), {})[case["name"].split(",")[0]] = case
        yield ""
        yield from table(
            [title, "CUB scan", "**tessera scan**", "to CUB", "CUB reduce", "**tessera reduce**", "to CUB"],
            [
                [
                    f"{threads} threads x {items}",
                    *(
                        text
                        for operation in ("block scan", "block reduce")
                        for text in (
                            [
                                both[operation].text("cub", 1),
                                both[operation].text("tessera", 1, strong=True),
                                both[operation].ratio("tessera", "cub"),
                            ]
                            if operation in both
                            else ["–"] * 3
                        )
                    ),
                ]
                for (threads, items), both in sorted(pairs.items())
            ],
        )
    yield ""
    yield f"Median of {result['replays']} replays after {result['warm_up_replays']} to warm up."


def level_tables(result):
    yield caption(result)
    for name in ("f32", "f64"):
        cases = cases_of(result, "array", type=name)
        if not cases:
            continue
        yield ""
        yield from table(
            [f"scan of {name}", "CUB", "CUB `run_to_run`", "CUB `gpu_to_gpu`", "**tessera**, `gpu_to_gpu`", "to CUB", "to CUB `run_to_run`"],
            [
                [
                    case.size,
                    *(case.text(column) for column in ("cub_inclusive", "cub_inclusive_run_to_run", "cub_inclusive_gpu_to_gpu")),
                    case.text("tessera_inclusive", strong=True),
                    case.ratio("tessera_inclusive", "cub_inclusive"),
                    case.ratio("tessera_inclusive", "cub_inclusive_run_to_run"),
                ]
                for case in cases
            ],
        )
        yield ""
        yield from table(
            [f"reduction of {name}", "CUB `not_guaranteed`", "CUB `run_to_run`", "CUB `gpu_to_gpu`", "**tessera**, `gpu_to_gpu`"]
            + ["to CUB `run_to_run`", "to CUB `gpu_to_gpu`"],
            [
                [
                    case.size,
                    *(case.text(f"cub_reduce_{level}") for level in ("not_guaranteed", "run_to_run", "gpu_to_gpu")),
                    case.text("tessera_reduce", strong=True),
                    case.ratio("tessera_reduce", "cub_reduce_run_to_run"),
                    case.ratio("tessera_reduce", "cub_reduce_gpu_to_gpu"),
                ]
                for case in cases
            ],
        )
    yield ""
    yield method(result)


def torch_table(result, ours):
    """`ours` is the scan_reduce result of the same device, or None."""
    yield f"{where(result)}, PyTorch {result['torch']}, {built(result)}. Milliseconds."
    yield ""
    times = {(c["type"], c["count"]): c.time("tessera_inclusive") for c in cases_of(ours, "array")} if ours else {}
    rows = []
    for case in cases_of(result, "array"):
        torch, tessera = case.time("torch_cumsum"), times.get((case["type"], case["count"]))
        ratio = f"{tessera / torch:.2f}" if tessera and torch else "–"
        rows.append([f"{case['type']} {case.size}", case.text("torch_cumsum"), case["launched_by"], f"**{number(tessera, 4)}**", ratio])
    yield from table(["inclusive", "`torch.cumsum`", "launched by", "**tessera**, of the run above", "to `torch.cumsum`"], rows)


def host_table(result):
    yield (
        f"**{result['device']}**, {result['threads']} threads, compiled by {result['compiler']}, {built(result)}; "
        f"load of the machine before it began: {result['load']:.1f}. Milliseconds; M is 2^20."
    )
    yield ""
    yield from table(
        ["", "copy", "`std::inclusive_scan`", "**tessera inclusive**", "to std", "to copy", "GB/s"]
        + ["`std::reduce`", "**tessera reduce**", "to std", "to copy", "GB/s"],
        [
            [
                f"{case['type']} {case.size}",
                case.text("copy", 2),
                *(
                    text
                    for standard, ours, passes in (("std_inclusive_scan", "tessera_inclusive", 2), ("std_reduce", "tessera_reduce", 1))
                    for text in (
                        case.text(standard, 2),
                        case.text(ours, 2, strong=True),
                        case.ratio(ours, standard),
                        case.ratio(ours, "copy"),
                        number(case.gigabytes(ours, passes), 1),
                    )
                ),
            ]
            for case in cases_of(result, "host")
        ],
    )
    yield ""
    yield f"All columns of a row in turns, in one run; median of {result['rounds']} rounds after {result['warm_up_rounds']} to warm up."


def pattern_text(result):
    """The picture of docs/scan.md and what it says in words."""
    scans = {scan["name"]: scan for scan in result["scans"]}
    cub, ours = scans["cub"], scans["tessera"]

    def results(scan):
        count = scan["patterns"]
        return "**one** result" if count == 1 else f"**{count:,}** different results"

    yield picture_line(result, "scan_patterns", f"errors of CUB's scan and tessera's in {result['runs']} runs on the same data")
    yield ""
    yield (
        f"{result['runs']} runs of each on the same {result['count']:,} floats, while other work keeps the card busy: CUB's `DeviceScan::InclusiveSum` gave "
        f"{results(cub)}, tessera's `inclusive_scan` gave {results(ours)}, the one that the host backend gives too. CUB's last element lay "
        f"between {min(cub['last_error_ulp']):.2f} and {max(cub['last_error_ulp']):.2f} units in the last place from the exact sum, "
        f"tessera's {ours['last_error_ulp'][0]:.2f} each time."
    )
    yield ""
    yield (
        "The orange band covers what one prefix was in different runs: a program that compares two runs, restarts from a checkpoint or draws samples by a "
        "cumulative sum sees this. The blue line is tessera's error, which every run repeats to the bit. It is an error like any other; but the "
        "association is a balanced tree, so that no more than ceil(log2 n) roundings stand behind each prefix."
    )
    if "cub_inclusive_run_to_run" in scans:
        yield ""
        yield f"CUB's scan that was asked for `run_to_run` gave {results(scans['cub_inclusive_run_to_run'])} in as many runs."
    yield ""
    yield f"{where(result)}, CUB of CCCL {result['cccl']}, {built(result)}."


# --- Pictures


def picture_name(result, kind):
    return f"{slug(result['device'])}_{kind}.svg"


def picture_line(result, kind, alternative):
    return f"![{alternative}](pictures/{picture_name(result, kind)})"


def speed_picture(result, what, series):
    """Panels, one an element type: GB/s against size. series: (label, figure, passes over the data, role, shape, dash)."""
    shown = [(name, cases_of(result, "array", type=name)) for name in TYPES]
    shown = [(name, cases) for name, cases in shown if cases]
    rates = [
        rate
        for _, cases in shown
        for case in cases
        for _, figure, passes, *_ in series
        if (rate := case.gigabytes(figure, passes)) is not None
    ]
    columns, panel_width, panel_height = 3, 300, 240
    rows = -(-len(shown) // columns)
    picture = svg.Picture(columns * panel_width + 20, rows * panel_height + 38, f"{what}: GB/s against the number of elements, on {result['device']}")
    picture.legend(62, 26, [(label, role, shape, dash) for label, _, _, role, shape, dash in series])
    least, most, ticks = svg.decade_ticks(min(rates), max(rates))
    for place, (name, cases) in enumerate(shown):
        left = 10 + place % columns * panel_width + 52
        top = 40 + place // columns * panel_height + 32
        counts = [case["count"] for case in cases]
        x_ticks = [(2.0**e, short_number(2**e)) for e in range(10, 31, 5) if min(counts) <= 2**e <= max(counts)]
        x = svg.Axis(min(counts), max(max(counts), 2 * min(counts)), left, left + panel_width - 72, x_ticks, logarithmic=True)
        y = svg.Axis(least, most, top + panel_height - 86, top, ticks, logarithmic=True)
        svg.draw_frame(picture, x, y, name, "GB/s" if place % columns == 0 else "", "elements" if place + columns >= len(shown) else "")
        for _, figure, passes, role, shape, dash in series:
            points = [(x(c["count"]), y(rate)) for c in cases if (rate := c.gigabytes(figure, passes)) is not None]
            if not points:
                continue
            picture.line(points, role, 2, dash)
            for at in points if shape else []:
                picture.mark(*at, role, shape)
    return picture.render()


def pattern_picture(result):
    scans = {scan["name"]: scan for scan in result["scans"]}
    cub, ours = scans["cub"], scans["tessera"]
    picture = svg.Picture(
        760, 560, f"Errors of CUB's inclusive scan and of tessera's in {result['runs']} runs on the same {result['count']:,} floats, on {result['device']}"
    )
    picture.legend(70, 28, [("CUB InclusiveSum", "rival", "circle", ""), ("tessera inclusive_scan", "ours", "square", "")])

    def errors_of(*lists):
        values = [value for values in lists for value in values]
        return svg.round_ticks(min([0, *values]), max([0, *values]))

    left, right = 78, 736
    least, most, ticks = errors_of(cub["least_error_ulp"], cub["most_error_ulp"], ours["least_error_ulp"], ours["most_error_ulp"])
    y = svg.Axis(least, most, 280, 80, ticks)
    places = [place + 1 for place in result["places"]]
    _, _, x_ticks = svg.round_ticks(0, places[-1] / 2**20, 8)
    x = svg.Axis(0, places[-1], left, right, [(v * 2**20, f"{label}M") for v, label in x_ticks if 0 < v * 2**20 <= places[-1] * 1.001])
    svg.draw_frame(
        picture, x, y, f"Each prefix: from the least to the greatest error of {result['runs']} runs", "units in the last place", "elements in the prefix"
    )
    low = [(x(place), y(value)) for place, value in zip(places, cub["least_error_ulp"])]
    high = [(x(place), y(value)) for place, value in zip(places, cub["most_error_ulp"])]
    picture.band(low + high[::-1], "rival")
    picture.line(low, "rival")
    picture.line(high, "rival")
    for values in (ours["least_error_ulp"], ours["most_error_ulp"]):
        picture.line([(x(place), y(value)) for place, value in zip(places, values)], "ours", 2)

    least, most, ticks = errors_of(cub["last_error_ulp"], ours["last_error_ulp"])
    y = svg.Axis(least, most, 516, 366, ticks)
    _, _, x_ticks = svg.round_ticks(0, result["runs"], 10)
    x = svg.Axis(0, result["runs"] + 1, left, right, [(v, label) for v, label in x_ticks if 0 < v <= result["runs"]])
    svg.draw_frame(picture, x, y, "The last element: its error in each run", "units in the last place", "run")
    for scan, role, shape in ((cub, "rival", "circle"), (ours, "ours", "square")):
        for run, value in enumerate(scan["last_error_ulp"], 1):
            picture.mark(x(run), y(value), role, shape)
    return picture.render()


# --- All of it


def sections(results):
    """Marker names and their lines; nothing where nothing was measured."""
    text = {name: [] for name in ("scan", "reduce", "segmented", "block", "levels", "torch", "host", "scan_patterns")}

    def add(name, lines):
        text[name] += ([""] if text[name] else []) + list(lines)

    for result in results:
        if result["program"] == "scan_reduce" and result["levels"]:
            add("levels", level_tables(result))
        elif result["program"] == "scan_reduce":
            add("scan", scan_tables(result))
            add("reduce", reduce_tables(result))
            add("segmented", segmented_tables(result))
            add("block", block_tables(result))
        elif result["program"] == "torch_cumsum":
            same = [r for r in results if r["program"] == "scan_reduce" and not r["levels"] and r["device"] == result["device"]]
            add("torch", torch_table(result, same[0] if same else None))
        elif result["program"] == "scan_reduce_host":
            add("host", host_table(result))
        elif result["program"] == "scan_patterns":
            add("scan_patterns", pattern_text(result))
    return text


def pictures(results):
    """File names and contents."""
    made = {}
    for result in results:
        if result["program"] == "scan_reduce" and not result["levels"]:
            made[picture_name(result, "scan")] = speed_picture(
                result,
                "Inclusive scan",
                [
                    ("copy (read and written)", "copy", 2, "limit", "", "5 3"),
                    ("CUB", "cub_inclusive", 2, "rival", "circle", ""),
                    ("tessera", "tessera_inclusive", 2, "ours", "square", ""),
                ],
            )
            made[picture_name(result, "reduce")] = speed_picture(
                result,
                "Reduction",
                [
                    ("copy (read and written)", "copy", 2, "limit", "", "5 3"),
                    ("CUB (read)", "cub_reduce", 1, "rival", "circle", ""),
                    ("tessera (read)", "tessera_reduce", 1, "ours", "square", ""),
                ],
            )
        elif result["program"] == "scan_patterns":
            made[picture_name(result, "scan_patterns")] = pattern_picture(result)
    return made
