#!/usr/bin/env python3
"""check_dependencies.py BUILD SOURCE DEPS: the host half was built without any CUDA installation.

Reads what the compiler wrote down about each object file of BUILD, resolves links, and fails on a header that lies inside a CUDA installation, or
that is CUDA's although it lies in a system folder. Headers below SOURCE, DEPS and BUILD are ours.
`check_dependencies.py --self-test` tries the check on made-up folders.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SYSTEM_FOLDERS = ("/usr/include", "/usr/local/include")


def dependencies(build):
    """{object file: [absolute path]}, from Ninja's log or from the compiler's .d files."""
    found = {}
    if (build / "build.ninja").exists():
        current = None
        for line in subprocess.run(["ninja", "-C", build, "-t", "deps"], check=True, capture_output=True, text=True).stdout.splitlines():
            if line.startswith(" ") and current is not None:
                found[current].append(line.strip())
            elif ": #deps" in line and "STALE" not in line:
                current = line.split(":")[0]
                found[current] = []
            else:
                current = None
    else:
        for file in build.rglob("*.o.d"):
            text = file.read_text().replace("\\\n", " ").split(":", 1)[1]
            found[str(file)] = [part.replace("\\ ", " ") for part in re.split(r"(?<!\\)\s+", text) if part]
    return {obj: [os.path.normpath(build / path) for path in paths] for obj, paths in found.items()}


def cuda_installations():
    folders = {os.environ.get("CUDA_PATH"), os.environ.get("CUDA_HOME"), "/opt/cuda", "/usr/lib/cuda", "/usr/lib/nvidia-cuda-toolkit"}
    folders |= {str(path) for path in pathlib.Path("/usr/local").glob("cuda*")}
    nvcc = shutil.which("nvcc")
    if nvcc:
        folders.add(os.path.dirname(os.path.dirname(os.path.realpath(nvcc))))
    return {os.path.realpath(folder) for folder in folders if folder and os.path.isdir(folder)}


def inside(path, folder):
    return os.path.commonpath([path, folder]) == str(folder)


def fault(path, ours, installations, cuda_headers, system_folders=SYSTEM_FOLDERS):
    """Why the header is not allowed, or None."""
    real = os.path.realpath(path)
    for installation in installations:
        if installation != "/usr" and inside(real, installation):
            return f"lies in the CUDA installation {installation}"
    if any(inside(real, folder) for folder in ours):
        return None
    for folder in system_folders:
        if inside(path, folder) and os.path.relpath(path, folder) in cuda_headers:
            return f"is a CUDA header in {folder}"
    if re.search(r"/[^/]*(cuda|nvhpc|hpc_sdk)[^/]*/", real, re.I):
        return "lies in a folder of CUDA's"
    return None


def check(build, source, deps):
    objects = dependencies(build)
    cuda = deps / "cuda" / "include"
    cuda_headers = {str(path.relative_to(folder)) for folder in (cuda, cuda / "cccl") for path in folder.rglob("*") if path.is_file()}
    ours = [os.path.realpath(folder) for folder in (source, deps, build)]
    installations = cuda_installations()
    verdicts = {}
    for obj, paths in objects.items():
        for path in paths:
            if path not in verdicts:
                verdicts[path] = (fault(path, ours, installations, cuda_headers), obj)
    bad = {path: verdict for path, verdict in verdicts.items() if verdict[0]}
    for path, (why, obj) in sorted(bad.items()):
        print(f"{path} {why}; included by {obj}")
    using = sum(any(inside(os.path.realpath(path), os.path.realpath(cuda)) for path in paths) for paths in objects.values())
    print(f"{len(objects)} object files, {len(verdicts)} headers and sources; {using} object files use the headers in {cuda}; {len(bad)} of a CUDA installation")
    if not using:
        print("no object file uses the downloaded CUDA headers: there was nothing to check")
    return not bad and using > 0


def self_test():
    with tempfile.TemporaryDirectory() as name:
        top = pathlib.Path(os.path.realpath(name))
        for file in ("toolkit/include/cuda_x.h", "deps/cuda/include/cuda_x.h", "deps/cuda/include/cccl/nv/target", "src/a.hpp", "system/nv/target",
                     "system/vector", "opt/hpc_sdk/include/x.h"):
            (top / file).parent.mkdir(parents=True, exist_ok=True)
            (top / file).write_text("")
        (top / "system" / "cuda_x.h").symlink_to(top / "toolkit/include/cuda_x.h")
        headers = {"cuda_x.h", "nv/target"}
        for file, allowed in (("deps/cuda/include/cuda_x.h", True), ("src/a.hpp", True), ("system/vector", True), ("system/cuda_x.h", False),
                              ("toolkit/include/cuda_x.h", False), ("system/nv/target", False), ("opt/hpc_sdk/include/x.h", False)):
            why = fault(str(top / file), [str(top / "deps"), str(top / "src")], {str(top / "toolkit")}, headers, [str(top / "system")])
            assert (why is None) == allowed, (file, why)
        build = top / "build"
        (build / "x").mkdir(parents=True)
        (build / "x" / "a.o.d").write_text("a.o: \\\n ../src/a.hpp /with\\ space/b.h \\\n c.h\n")
        assert list(dependencies(build).values()) == [[str(top / "src/a.hpp"), "/with space/b.h", str(build / "c.h")]], dependencies(build)
    return True


if sys.argv[1:] == ["--self-test"]:
    sys.exit(0 if self_test() else 1)
if len(sys.argv) != 4:
    sys.exit(__doc__)
sys.exit(0 if check(*(pathlib.Path(argument).absolute() for argument in sys.argv[1:])) else 1)
