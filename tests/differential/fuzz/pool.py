"""Runs cases in a pool of worker processes. The pool survives an engine that crashes its process.

onnxruntime runs inside the worker process and aborts on some inputs. A worker therefore announces each case
before it runs the case. If the worker dies, the pool records the announced case as refused, and a new worker
continues with the next case."""

import multiprocessing as mp
import shutil
import tempfile
import time
from dataclasses import dataclass
from multiprocessing.connection import wait

from . import registry
from .judge import Judge, Verdict

SILENCE_S = 180     # the pool replaces a worker that sends no message for this number of seconds
ATTEMPTS_PER_CASE = 12


@dataclass
class Task:
    """Runs `quota` cases of one operator, with the seeds `seed`, `seed + 1` and so on. If `fixed`, a case that
    onnxruntime refuses counts towards the quota. Otherwise it does not, and the next seed is tried."""

    op: str
    seed: int
    quota: int
    fixed: bool = False

    @property
    def limit(self):
        return self.seed + (self.quota if self.fixed else max(20, self.quota * ATTEMPTS_PER_CASE))


def _serve(pipe, engine, known_list, save, scratch):
    registry.load_specs()
    judge = Judge(engine, known_list(), scratch, save)
    while (task := pipe.recv()) is not None:
        done, seed = 0, task.seed
        while done < task.quota and seed < task.limit:
            pipe.send(("trying", seed, None))
            verdict = judge.judge(registry.OPS[task.op], seed)
            seed += 1
            done += task.fixed or verdict.status != "refused"
            pipe.send(("verdict", seed, verdict))
        pipe.send(("done", seed, None))


class Worker:
    def __init__(self, context, *setup):
        self.context, self.setup = context, setup
        self.task = self.process = None
        self.start()

    def start(self):
        self.scratch = tempfile.mkdtemp(prefix="differential-")
        self.pipe, other = self.context.Pipe()
        self.process = self.context.Process(target=_serve, args=(other, *self.setup, self.scratch), daemon=True)
        self.process.start()
        other.close()

    def give(self, task):
        self.task, self.next_seed, self.heard = task, task.seed, time.monotonic()
        self.pipe.send(task)

    def stop(self):
        self.process.kill()
        self.process.join()
        self.pipe.close()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def remainder(self, counted):
        """Returns a task for the cases after the case that crashed the worker, or None if there are none. A fixed task
        has only one case."""
        task = self.task
        seed = self.next_seed + 1
        if task.fixed:
            return None
        left = Task(task.op, seed, task.quota - counted)
        return left if left.quota > 0 and seed < task.limit else None


def run(tasks, jobs, engine, known_list, save, on_verdict):
    """Runs the tasks. `known_list` is a function that returns the known differences. Each worker calls it, because the
    predicates of known differences cannot be pickled."""
    context = mp.get_context("spawn")
    queue = list(reversed(tasks))
    workers = [Worker(context, engine, known_list, save) for _ in range(max(1, min(jobs, len(tasks))))]
    counted = {}
    for worker in workers:
        _next(worker, queue, counted)
    while any(w.task for w in workers):
        busy = {w.pipe: w for w in workers if w.task}
        for pipe in wait(list(busy), timeout=5):
            _listen(busy[pipe], queue, counted, on_verdict)
        for worker in workers:
            if worker.task and time.monotonic() - worker.heard > SILENCE_S:
                _bury(worker, queue, counted, on_verdict, f"no answer in {SILENCE_S} s")
    for worker in workers:
        worker.stop()


def _next(worker, queue, counted):
    worker.task = None
    if queue:
        counted[worker] = 0
        worker.give(queue.pop())


def _listen(worker, queue, counted, on_verdict):
    try:
        kind, seed, verdict = worker.pipe.recv()
    except (EOFError, ConnectionResetError):
        _bury(worker, queue, counted, on_verdict, "the process died")
        return
    worker.heard = time.monotonic()
    if kind == "trying":
        worker.next_seed = seed
    elif kind == "verdict":
        counted[worker] += verdict.status != "refused"
        on_verdict(verdict)
    else:
        _next(worker, queue, counted)


def _bury(worker, queue, counted, on_verdict, why):
    """Records a crash and replaces the worker. The crash counts as a crash of onnxruntime, because onnxruntime runs in
    the worker, whereas Tern runs in a separate process."""
    on_verdict(Verdict(f"{worker.task.op}:{worker.next_seed}", worker.task.op, "refused", f"onnxruntime crashed: {why}"))
    rest = worker.remainder(counted[worker])
    worker.stop()
    worker.start()
    if rest:
        queue.append(rest)
    _next(worker, queue, counted)
