"""Runs an engine in a child process, one round per request."""

import json
import pathlib
import selectors
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


class Failure(Exception):
    """Raised if an engine fails. The message is one line."""


def command_of(engine, job, job_file, terns):
    """Returns the command that starts an engine. The engines "tern", "single" and "base" are Tern, and `terns` maps them to
    their binaries."""
    if engine not in terns:
        return [sys.executable, str(HERE / "engines" / "child.py"), engine, str(job_file)]
    precision = [] if job["precision"] == "fp32" else ["--precision", job["precision"]]
    return [str(terns[engine]), "bench", job["model"], "--input", job["inputs_file"], "--threads", str(job["threads"]), "--output-dir",
            job["outputs_dir"], "--rounds", *precision]


class Engine:
    def __init__(self, name, job, folder, terns, limit=300):
        self.name, self.limit, self.seen = name, limit, b""
        folder.mkdir(parents=True)
        job = {**job, "outputs_dir": str(folder)}
        job_file, self.log = folder / "job.json", folder / "log"
        job_file.write_text(json.dumps(job))
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command_of(name, job, job_file, terns), stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=log)
        try:
            self.ready = self.answer()
        except Failure:
            self.close()
            raise

    def line(self):
        """Returns the next line of the child's output, or None at its end."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while b"\n" not in self.seen:
                if not selector.select(self.limit):
                    raise Failure(f"no answer within {self.limit} s")
                piece = self.process.stdout.read1(65536)
                if not piece:
                    return None
                self.seen += piece
        line, _, self.seen = self.seen.partition(b"\n")
        return line

    def answer(self):
        line = self.line()
        if line is None:
            raise Failure(self.reason())
        answer = json.loads(line)
        if "error" in answer:
            raise Failure(" ".join(answer["error"].split())[:300])
        return answer

    def reason(self):
        code = self.process.wait()
        if code < 0:
            return f"killed by {signal.Signals(-code).name}"
        lines = self.log.read_text(errors="replace").strip().splitlines()
        return (lines[-1] if lines else f"exit status {code}")[:300]

    def round(self, runs, seconds):
        """Returns the answer of the engine, which contains latencies in ms. The engine starts at most `runs` runs. After `seconds`,
        it starts no further run."""
        try:
            self.process.stdin.write(f"{runs} {seconds}\n".encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Failure(self.reason()) from None
        return self.answer()

    def close(self):
        for pipe in (self.process.stdin, self.process.stdout):
            try:
                pipe.close()
            except BrokenPipeError:
                pass
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
