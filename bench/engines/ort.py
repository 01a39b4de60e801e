"""Runs onnxruntime with its default settings. Inputs and outputs are bound once."""

import onnxruntime


def load(job):
    if job.precision != "fp32":
        raise RuntimeError("onnxruntime has no bf16 on CPU")
    onnxruntime.set_default_logger_severity(3)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = job.threads
    session = onnxruntime.InferenceSession(job.model, options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for name, value in job.inputs.items():
        binding.bind_cpu_input(name, value)
    for name in job.outputs:
        binding.bind_output(name)
    return lambda: session.run_with_iobinding(binding), binding.copy_outputs_to_cpu
