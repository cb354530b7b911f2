#!/usr/bin/env python3
"""benchmarks/peers/torch_cumsum.py [--json FILE] [--quick] [--commit COMMIT]: times PyTorch's cumsum at the sizes of tessera_scan_benchmarks.

By replays of CUDA graphs where PyTorch can capture it, else by launches from the host; the figures say which. Without PyTorch or without a GPU it
says so and ends with 77. scripts/record_benchmarks takes the file.
"""

import argparse
import datetime
import json
import subprocess
import sys

K, M, G = 1 << 10, 1 << 20, 1 << 30
WARM_UP_REPLAYS, REPLAYS = 3, 21


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def first_line_of(command):
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    lines = result.stdout.splitlines()
    return lines[0] if result.returncode == 0 and lines else ""


def launches_for(moved_bytes):
    """So that a replay takes about a millisecond; the rule of tessera_scan_benchmarks."""
    milliseconds = max(0.003, moved_bytes / 3.5e9)
    return min(max(int(1 / milliseconds), 4), 200)


def times_of(torch, work, launches, warm_up, replays):
    """Sorted milliseconds of one launch, and how it was launched."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            for _ in range(launches):
                work()
        run, how = graph.replay, "graph"
    except RuntimeError:
        torch.cuda.synchronize()

        def run():
            for _ in range(launches):
                work()

        how = "launches"
    times = []
    for i in range(warm_up + replays):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        run()
        end.record()
        end.synchronize()
        if i >= warm_up:
            times.append(begin.elapsed_time(end) / launches)
    return sorted(times), how


def fault_of(torch, values, sums):
    """Empty, or what is wrong with the first sums: they are compared with those of float64 on the processor."""
    part = min(values.numel(), M)
    exact = torch.cumsum(values[:part].double().cpu(), 0)
    magnitudes = torch.cumsum(values[:part].double().abs().cpu(), 0)
    bound = 16 * part**0.5 * torch.finfo(values.dtype).eps / 2 * magnitudes
    wrong = ~((sums[:part].double().cpu() - exact).abs() <= bound)
    return f"element {int(wrong.nonzero()[0])} is too far from the sum" if bool(wrong.any()) else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--quick", action="store_true", help="small arrays and few replays")
    parser.add_argument("--commit", default="", help="the commit of this script; by default git is asked")
    chosen = parser.parse_args()
    try:
        import torch
    except ImportError:
        skip("there is no PyTorch")
    if not torch.cuda.is_available():
        skip("there is no GPU that PyTorch can use")

    properties = torch.cuda.get_device_properties(0)
    result = {
        "program": "torch_cumsum",
        "device": properties.name,
        "compute_capability": f"{properties.major}.{properties.minor}",
        "multiprocessors": properties.multi_processor_count,
        "l2_bytes": getattr(properties, "L2_cache_size", 0),
        "driver": first_line_of(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]),
        "cuda_runtime": torch.version.cuda,
        "torch": torch.__version__,
        "commit": chosen.commit or first_line_of(["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "quick": chosen.quick,
        "filter": "",
        "warm_up_replays": WARM_UP_REPLAYS,
        "replays": REPLAYS,
        "cases": [],
    }
    torch.manual_seed(5)
    sizes = [K, 64 * K, M, 16 * M, 64 * M, 256 * M, G]
    for name, dtype in (("f32", torch.float32), ("f64", torch.float64)):
        for count in sizes[:3] if chosen.quick else sizes:
            element_bytes = torch.finfo(dtype).bits // 8
            values = sums = None
            torch.cuda.empty_cache()  # what the case before left
            if torch.cuda.mem_get_info()[0] < 2.5 * count * element_bytes:
                print(f"{name} {count}: left out, there is too little device memory")
                continue
            values = torch.rand(count, dtype=dtype, device="cuda") - 0.5
            sums = torch.empty_like(values)
            launches = launches_for(2 * count * element_bytes)
            times, how = times_of(
                torch, lambda: torch.cumsum(values, 0, out=sums), launches, 1 if chosen.quick else WARM_UP_REPLAYS, 3 if chosen.quick else REPLAYS
            )
            fault = fault_of(torch, values, sums)
            figure = {"median": times[len(times) // 2], "least": times[0], "most": times[-1]}
            result["cases"].append(
                {
                    "group": "array",
                    "name": f"{name} {count}",
                    "type": name,
                    "count": count,
                    "element_bytes": element_bytes,
                    "launched_by": how,
                    "launches_per_graph": launches,
                    "milliseconds": {} if fault else {"torch_cumsum": figure},
                    "absent": {},
                    "faults": [f"torch_cumsum: {fault}"] if fault else [],
                }
            )
            outcome = fault or f"{figure['median']:.4f} ms by {how}"
            print(f"torch.cumsum {name} {count}: {outcome}", flush=True)
    if chosen.json:
        with open(chosen.json, "w") as file:
            json.dump(result, file, indent=1)
            file.write("\n")
    sys.exit(1 if any(case["faults"] for case in result["cases"]) else 0)


main()
