"""Checks that kserve's classes know every field of deploy/kserve/clusterservingruntime.yaml. usage: runtime_check.py FILE"""

import sys

import kserve
import yaml


def check(document, kind, place):
    """Compares the keys of a document with the fields of one of kserve's classes."""
    if unknown := set(document) - set(kind.attribute_map.values()):
        sys.exit(f"{place}: kserve does not know {sorted(unknown)}")


with open(sys.argv[1], encoding="utf-8") as file:
    runtime = yaml.safe_load(file)
check(runtime, kserve.V1alpha1ClusterServingRuntime, "the runtime")
check(runtime["spec"], kserve.V1alpha1ServingRuntimeSpec, "spec")
for number, known in enumerate(runtime["spec"]["supportedModelFormats"]):
    check(known, kserve.V1alpha1SupportedModelFormat, f"supportedModelFormats[{number}]")
