"""Runs torch in eager mode, on the network that the ONNX file was exported from."""

import torch


def load(job):
    import zoo
    from networks import all_networks

    network = all_networks().get(job.network)
    if network is None:
        raise RuntimeError("this is a published model, for which there is no torch network")
    torch.set_num_threads(job.threads)
    model = zoo.built(network)
    inputs = [torch.from_numpy(value) for value in job.inputs.values()]
    last = []

    def run():
        with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, enabled=job.precision == "bf16"):
            result = model(*inputs)
        last[:] = result if isinstance(result, tuple) else [result]

    return run, lambda: [tensor.float().numpy() for tensor in last]
