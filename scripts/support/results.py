#!/usr/bin/env python3
"""results.py FILE: the outcome of a test run, from ctest's JUnit XML or GoogleTest's JSON.

Prints `PASSED FAILED SKIPPED` on one line, then a line for each test that failed, and one for each reason why tests were skipped.
"""

import collections
import json
import re
import sys
import xml.etree.ElementTree


def from_ctest(path):
    for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        status = case.get("status")
        output = case.findtext("system-out") or ""
        if status == "run":
            yield case.get("name"), "passed", ""
        elif status == "disabled" or any(why.get("message", "").startswith("SKIP_") for why in case.iter("skipped")):
            yield case.get("name"), "skipped", reason(output)
        else:
            yield case.get("name"), "failed", ""


def from_gtest(path):
    with open(path) as file:
        report = json.load(file)
    failed_anywhere = report.get("failures", 0) + report.get("errors", 0)
    for suite in report.get("testsuites", []):
        for case in suite.get("testsuite", []):
            name = f'{suite["name"]}.{case["name"]}'
            if case.get("failures"):
                yield name, "failed", ""
            elif case.get("result") == "SKIPPED" or case.get("status") == "NOTRUN":
                yield name, "skipped", ""
            else:
                yield name, "passed", ""
    if failed_anywhere and not any(case.get("failures") for suite in report.get("testsuites", []) for case in suite.get("testsuite", [])):
        yield "outside of any test", "failed", ""


def reason(output):
    found = re.search(r"Skipped\n(.+)", output)
    return found.group(1).strip() if found else ""


path = sys.argv[1]
outcomes = list((from_ctest if path.endswith(".xml") else from_gtest)(path))
count = collections.Counter(outcome for _, outcome, _ in outcomes)
print(count["passed"], count["failed"], count["skipped"])
for name, outcome, _ in outcomes:
    if outcome == "failed":
        print(f"failed: {name}")
for why, number in collections.Counter(why for _, outcome, why in outcomes if outcome == "skipped" and why).items():
    print(f"skipped: {number} tests: {why}")
