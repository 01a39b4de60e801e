#!/usr/bin/env python3
"""Sends the same requests to Tern and to Triton 2.51 and compares the answers. The last line is `N passed, N failed, N skipped`."""

import argparse
import fnmatch
import os
import pathlib
import re
import struct
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tern", default=os.environ.get("TERN_BIN"), help="the program tern (default: TERN_BIN)")
    parser.add_argument("--backends", default=os.environ.get("TERN_BACKENDS"),
                        help="folder of libtern_backend_identity.so (default: TERN_BACKENDS, or ../backends of the program's folder)")
    parser.add_argument("--triton", default=os.environ.get("TRITON_HOME"), help="folder into which pip installed nvidia-pytriton 0.7.0 (default: TRITON_HOME)")
    parser.add_argument("--only", default="*", help="run only the cases whose names match this pattern, and do not check for stale deviations")
    parser.add_argument("--messages", action="store_true", help="print the error messages of both servers for every case")
    parser.add_argument("--crashes", action="store_true", help="also send Triton the requests that crash it; Triton is restarted after each of them")
    parser.add_argument("--list", action="store_true", help="print the names of the cases and exit")
    return parser.parse_args()


class Deviations:
    """The table of deviations.md: | cases | fact | Triton | Tern | reason |. The cases are patterns. The value `*` for
    Triton or Tern matches any value."""

    def __init__(self, path):
        rows = [[cell.strip().strip("`") for cell in re.split(r"(?<!\\)\|",
            line)[1:-1]] for line in path.read_text().splitlines() if line.startswith("| `")]
        bad = [row for row in rows if len(row) != 5 or not all(row[:2]) or not row[4]]
        if bad:
            raise ValueError(f"deviations.md: a row needs five cells and a reason: {bad[0]}")
        self.rows, self.used = rows, [0] * len(rows)

    def explain(self, name, fact, triton, tern):
        """Returns the reason of the first row that explains the difference, or None if no row does."""
        found = None
        for i, (patterns, row_fact, row_triton, row_tern, reason) in enumerate(self.rows):
            matches = row_fact == fact and row_triton in ("*", triton) and row_tern in ("*", tern)
            if matches and any(fnmatch.fnmatchcase(name, p) for p in patterns.split()):
                self.used[i] += 1
                found = found or reason
        return found

    def stale(self):
        return [row for row, used in zip(self.rows, self.used) if not used]


def succeeded(facts):
    return facts["status"] == "OK" or facts["status"].startswith("2")


def differences(triton, tern):
    """Returns a list of (fact, value of Triton, value of Tern). If only one of them succeeds, or Triton does not
    answer, only the status is compared."""
    if triton["status"] in ("crash", "closed", "timeout") or succeeded(triton) != succeeded(tern):
        return [("status", triton["status"], tern["status"])]
    result = []
    for fact in sorted(({*triton, *tern}) - {"message"}):
        a, b = triton.get(fact, "none"), tern.get(fact, "none")
        if a != b and fact == "keys":
            a, b = " ".join(sorted(set(a.split()) - set(b.split()))) or "none", " ".join(sorted(set(b.split()) - set(a.split()))) or "none"
        if a != b:
            result.append((fact, a, b))
    return result


class Comparison:
    def __init__(self, options, folder, deviations):
        self.options, self.folder, self.deviations = options, folder, deviations
        self.servers, self.counts = {}, {"cases": 0, "same": 0, "explained": 0, "not explained": 0}

    def start(self, kind, control):
        from servers import Tern
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        backends = self.options.backends or pathlib.Path(self.options.tern).resolve().parents[1] / "backends"
        self.servers[kind] = Tern(self.options.tern, backends, folder, control) if kind == "tern" else self.start_triton(folder, control)

    def start_triton(self, folder, control):
        """Starts Triton. Tries a second time if this fails, because Triton's python processes sometimes fail on a busy
        machine."""
        from servers import Triton
        if "triton" in self.servers:
            self.servers["triton"].stop()
        try:
            return Triton(pathlib.Path(self.options.triton), folder, control)
        except RuntimeError as error:
            print(f"Triton is restarted, because it failed: {str(error)[-200:]!r}")
            return Triton(pathlib.Path(self.options.triton), pathlib.Path(tempfile.mkdtemp(dir=self.folder)), control)

    def stop(self):
        for server in self.servers.values():
            server.stop()

    def ask_triton(self, case, control):
        """Returns the facts of Triton's response. If Triton crashes, restarts it and returns the status "crash"."""
        from answers import ask
        if case.crashes and not self.options.crashes:
            return {"status": "crash", "message": "not sent, because it crashes Triton"}
        facts = ask(case, self.servers["triton"])
        if facts["status"] in ("closed", "UNAVAILABLE") and self.servers["triton"].dies(5 if case.crashes or facts["status"] == "closed" else 0.5):
            self.start("triton", control)
            return {"status": "crash", "message": "Triton crashed" if case.crashes else "Triton crashed; set crashes=True in the case"}
        return facts

    def compare(self, case, control):
        from answers import ask
        time.sleep(case.wait)
        triton, tern = self.ask_triton(case, control), ask(case, self.servers["tern"])
        if not self.servers["tern"].alive() or (tern["status"] == "closed" and self.servers["tern"].dies(2)):
            raise RuntimeError(f"{case.name}: Tern crashed")
        found = differences(triton, tern)
        reasons = [self.deviations.explain(case.name, *each) for each in found]
        outcome = "same" if not found else "explained" if all(reasons) else "not explained"
        self.counts["cases"] += 1
        self.counts[outcome] += 1
        if outcome == "not explained" or self.options.messages:
            self.report(case, outcome, triton, tern, found, reasons)

    @staticmethod
    def report(case, outcome, triton, tern, found, reasons):
        print(f"{case.name}: {outcome} (Triton {triton['status']}, Tern {tern['status']})")
        for (fact, a, b), reason in zip(found, reasons):
            print(f"  {fact}: Triton {a[:300]} | Tern {b[:300]}" + (f" | {reason}" if reason else ""))
        for name, facts in (("Triton", triton), ("Tern", tern)):
            if facts.get("message"):
                print(f"  {name}: {facts['message'][:200]!r}")

    def run(self, cases, control):
        try:
            for kind in ("tern", "triton"):
                self.start(kind, control)
            for case in cases:
                self.compare(case, control)
        finally:
            self.stop()


def make_region(name):
    path = pathlib.Path("/dev/shm") / name.lstrip("/")
    path.write_bytes(struct.pack("<3f", 1, 2, 3) + bytes(52))
    return path


def run_all(options, cases):
    from http_control import REGION
    deviations, region = Deviations(HERE / "deviations.md"), make_region(REGION)
    try:
        with tempfile.TemporaryDirectory(prefix="tern_differential_") as folder:
            comparison = Comparison(options, pathlib.Path(folder), deviations)
            for control, group in cases.items():
                chosen = [case for case in group if fnmatch.fnmatchcase(case.name, options.only)]
                if chosen:
                    comparison.run(chosen, control)
    finally:
        region.unlink()
    stale = deviations.stale() if options.only == "*" else []
    for row in stale:
        print(f"stale deviation: {row}")
    counts = comparison.counts
    print(", ".join(f"{count} {name}" for name, count in counts.items()) + f"; {len(deviations.rows)} deviations, {len(stale)} stale")
    failed = counts["not explained"] + len(stale)
    print(f"{counts['same'] + counts['explained']} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


def main():
    options = arguments()
    sys.path.insert(0, str(HERE))
    from servers import missing_triton
    reason = missing_triton(options.triton) or (None if options.tern else "no Tern: set --tern PROGRAM or TERN_BIN")
    if reason:
        print(f"SKIP server differential: {reason}\n0 passed, 0 failed, 1 skipped")
        return 0
    sys.path.append(options.triton)  # the folder contains tritonclient and grpc
    import grpc_cases
    import http_control
    import http_infer
    cases = {"explicit": [*http_infer.CASES, *http_control.CASES, *grpc_cases.CASES], "none": [*http_control.NONE_CASES, *grpc_cases.NONE_CASES]}
    # Cases that crash Triton run last, because a restarted Triton has lost its statistics.
    cases["explicit"].sort(key=lambda case: case.crashes)
    names = [case.name for group in cases.values() for case in group]
    assert len(set(names)) == len(names), sorted({n for n in names if names.count(n) > 1})
    if options.list:
        print("\n".join(names))
        return 0
    return run_all(options, cases)


if __name__ == "__main__":
    sys.exit(main())
