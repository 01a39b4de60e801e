"""The modes of perf_analyzer that agreement.py runs, and the models and files that they need."""

import json
import typing

import repositories

RATE = 2000  # requests/s of the Poisson modes; in 2 s, the number of requests varies by 1.6 % (standard deviation)
STEPS = 10  # requests of a sequence, and responses of the decoupled model

SHAPE = ("--shape", "INPUT0:1")
SHARED = ("--shared-memory", "system")
JSON_TENSORS = ("--input-tensor-format", "json", "--output-tensor-format", "json")
POISSON = ("--request-distribution", "poisson", "--request-rate-range", RATE, "--max-threads", 32)
PERIODIC = ("--periodic-concurrency-range", "1:8:1", "--request-period", STEPS // 2)

SEQUENCE = """max_batch_size: 4
input [ { name: "INPUT" data_type: TYPE_INT32 dims: [ 1 ] } ]
output [ { name: "OUTPUT" data_type: TYPE_INT32 dims: [ 1 ] } ]
sequence_batching {
  oldest { max_candidate_sequences: 8 }
  control_input [
    { name: "START" control [ { kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ] } ] },
    { name: "END" control [ { kind: CONTROL_SEQUENCE_END int32_false_true: [ 0, 1 ] } ] },
    { name: "READY" control [ { kind: CONTROL_SEQUENCE_READY int32_false_true: [ 0, 1 ] } ] },
    { name: "CORRID" control [ { kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_UINT64 } ] }
  ]
}
"""


class Mode(typing.NamedTuple):
    name: str
    protocol: str
    model: str
    theirs: tuple  # options of perf_analyzer
    ours: typing.Optional[tuple] = None  # options of tern load for the same load; None if it does not have the mode
    only_profile: bool = False  # perf_analyzer prints no figures in this mode; it writes the times of all requests to a file

    @property
    def is_open_loop(self):
        return self.ours is not None and "--rate" in self.ours


def write_models(root, delay_ms):
    """Writes `identity` (2 instances) and `wide` (16 instances), whose executions last `delay_ms`, and the models `sequence` and
    `repeat`."""
    delay = f'parameters {{ key: "execute_delay_ms" value {{ string_value: "{delay_ms}" }} }}\n'
    repositories.tern_identity(root, delay)
    repositories.tern_identity(root, delay, "wide", 16)
    repositories.tern_plug_in(root, "sequence", SEQUENCE)
    repositories.tern_plug_in(root, "repeat")


def _write_inputs(folder):
    """Writes the inputs of `sequence` with the outputs that perf_analyzer has to receive, the inputs of `repeat`, and intervals of
    2 to 3 ms."""
    numbers = range(1, STEPS + 1)
    sequence = {"data": [[{"INPUT": [n]} for n in numbers]], "validation_data": [[{"OUTPUT": [n * (n + 1) // 2]} for n in numbers]]}
    vector = {"content": [1] * STEPS, "shape": [STEPS]}
    repeat = {"data": [{"IN": vector, "DELAY": vector, "WAIT": [0]}]}
    for name, content in (("sequence", sequence), ("repeat", repeat)):
        (folder / f"{name}.json").write_text(json.dumps(content))
    (folder / "intervals").write_text("".join(f"{us}\n" for us in range(2000, 3000, 10)))


def _of_both_protocols(protocol, concurrency, sequence, intervals):
    plain, closed = ("--concurrency-range", concurrency, *SHAPE), ("--concurrency", concurrency)
    return [Mode("closed loop", protocol, "identity", plain, closed),
            Mode("closed loop, --async", protocol, "identity", (*plain, "--async"), closed),
            Mode("system shared memory", protocol, "identity", (*plain, *SHARED), (*closed, *SHARED)),
            Mode("Poisson rate", protocol, "wide", (*POISSON, *SHAPE), ("--rate", RATE)),
            Mode("custom intervals", protocol, "identity", ("--request-intervals", intervals, *SHAPE)),
            Mode("sequences", protocol, "sequence", ("--concurrency-range", concurrency, *sequence)),
            Mode("sequences at a rate", protocol, "sequence", ("--request-rate-range", 400, "--serial-sequences", *sequence))]


def all_modes(folder, concurrency):
    """Writes input files to `folder` and returns all modes."""
    _write_inputs(folder)
    loop, repeat = ("--concurrency-range", concurrency), ("--streaming", "--input-data", folder / "repeat.json")
    sequence = ("--input-data", folder / "sequence.json", "--sequence-length", STEPS, "--sequence-length-variation", 0)
    return [*_of_both_protocols("http", concurrency, sequence, folder / "intervals"),
            Mode("JSON tensors", "http", "identity", (*loop, *SHAPE, *JSON_TENSORS), ("--concurrency", concurrency, "--json-tensors")),
            *_of_both_protocols("grpc", concurrency, sequence, folder / "intervals"),
            Mode("gzip", "grpc", "identity", (*loop, *SHAPE, "--grpc-compression-algorithm", "gzip")),
            Mode("streaming", "grpc", "identity", (*loop, *SHAPE, "--streaming")),
            Mode("streaming, shared memory", "grpc", "identity", (*loop, *SHAPE, "--streaming", *SHARED)),
            Mode("streaming, sequences", "grpc", "sequence", (*loop, "--streaming", *sequence)),
            Mode("streaming, decoupled", "grpc", "repeat", (*loop, *repeat)),
            Mode("periodic concurrency", "grpc", "repeat", (*PERIODIC, *repeat), only_profile=True)]
