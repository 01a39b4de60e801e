"""The networks that the benchmark runs, one file per family. Each file has a table NETWORKS."""

import importlib

FAMILIES = ("classic", "mobile", "branching", "parallel", "detectors", "large_images", "vision_transformers", "multiscale", "text", "sequence")


def all_networks():
    """Returns the networks by name, in the order of the tables."""
    tables = [importlib.import_module(f"{__name__}.{family}").NETWORKS for family in FAMILIES]
    return {network.name: network for table in tables for network in table}
