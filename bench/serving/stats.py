"""Reads the statistics extension of the v2 protocol."""

import json
import urllib.request


def of(server, model):
    with urllib.request.urlopen(f"http://{server.http}/v2/models/{model}/stats", timeout=10) as answer:
        return json.load(answer)["model_stats"][0]


def successes(server, model):
    """Returns the number of requests that the model has answered without an error."""
    return int(of(server, model)["inference_stats"]["success"]["count"])


def counts(server, model):
    """Returns the numbers of inferences and of executions so far. Their quotient is the mean batch size."""
    found = of(server, model)
    return int(found["inference_count"]), int(found["execution_count"])
