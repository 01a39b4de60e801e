"""Runs openvino with the latency hint, in the requested precision. With precision `own`, openvino chooses, as it does by default."""

import openvino


def load(job):
    core = openvino.Core()
    model = core.read_model(job.model)
    model.reshape({name: list(value.shape) for name, value in job.inputs.items()})
    hints = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": job.threads}
    if job.precision != "own":
        hints["INFERENCE_PRECISION_HINT"] = {"fp32": "f32", "bf16": "bf16"}[job.precision]
    request = core.compile_model(model, "CPU", hints).create_infer_request()
    for name, value in job.inputs.items():
        request.set_tensor(name, openvino.Tensor(value))

    # The fastest call from Python is synchronous, with preset input tensors and without copies of the outputs.
    return lambda: request.infer(share_outputs=True), lambda: [request.get_tensor(name).data.copy() for name in job.outputs]
