"""openvino for latency, in the precision that was asked for."""

import openvino


def load(job):
    core = openvino.Core()
    model = core.read_model(job.model)
    model.reshape({name: list(value.shape) for name, value in job.inputs.items()})
    hints = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": job.threads,
             "INFERENCE_PRECISION_HINT": {"fp32": "f32", "bf16": "bf16"}[job.precision]}
    request = core.compile_model(model, "CPU", hints).create_infer_request()
    for name, value in job.inputs.items():
        request.set_tensor(name, openvino.Tensor(value))

    def run():
        request.start_async()
        request.wait()

    return run, lambda: [request.get_tensor(name).data.copy() for name in job.outputs]
