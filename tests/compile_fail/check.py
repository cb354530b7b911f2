"""check.py FILE COMPILER ARGUMENT...: FILE must be refused with the sentences of its `// expect:` lines, and its control must compile."""

import pathlib
import re
import subprocess
import sys


def squeeze(text):
    return re.sub(r"\s+", " ", text)


def main():
    path, command = sys.argv[1], sys.argv[2:]
    text = pathlib.Path(path).read_text()
    sentences = re.findall(r"^// expect: (.+?)\s*$", text, re.M)
    if not text.startswith("// expect: "):
        return "the first line is not `// expect: <sentence>`"
    if "TESSERA_COMPILE_FAIL_CONTROL" not in text:
        return "there is no control: `#ifdef TESSERA_COMPILE_FAIL_CONTROL`"

    def compile_with(*extra):
        return subprocess.run([*command, *extra, path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")

    control = compile_with("-DTESSERA_COMPILE_FAIL_CONTROL")
    if control.returncode != 0:
        return "the control does not compile:\n" + control.stdout
    broken = compile_with()
    if broken.returncode == 0:
        return "it compiles, but should be refused"
    for sentence in sentences:
        if squeeze(sentence) not in squeeze(broken.stdout):
            return f"it is refused without the sentence\n  {sentence}\nThe compiler said:\n{broken.stdout}"
    return None


fault = main()
if fault:
    print(f"{sys.argv[1]}: {fault}")
sys.exit(1 if fault else 0)
