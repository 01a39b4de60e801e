"""Manifests and units: the Helm chart, the KServe runtime and the systemd unit.

The chart is rendered by tests/manifests/chart.py, which reads the subset of templates that the chart uses; Helm itself is not run.
Kubernetes objects are validated by the package kubernetes-validate against the API's own schemas, strictly: unknown fields fail."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import jsonschema
import kubernetes_validate
import yaml

from chart import Chart, TemplateError

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
TERN = os.environ.get("TERN_BIN", str(ROOT / "build/release/bin/tern"))
KUBERNETES = ("1.30", "1.33")
VARIANTS = {
    "default": {},
    "s3": {"repositories": ["s3://bucket/prefix"], "settings": {"poll-secs": 60}, "env": [{"name": "AWS_REGION", "value": "eu-west-1"}],
           "envFrom": [{"secretRef": {"name": "s3"}}], "serviceAccount__annotations": {"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/x"}},
    "volume": {"models__create": True, "models__storageClass": "fast"},
    "claim": {"models__existingClaim": "mine", "models__create": True, "serviceAccount__create": False},
    "scaled": {"autoscaling__enabled": True, "metrics__podMonitor": True, "metrics__annotations": False, "drainDelay": 5},
    "placed": {"nodeSelector": {"disk": "ssd"}, "tolerations": [{"key": "x", "operator": "Exists"}], "imagePullSecrets": [{"name": "r"}],
               "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
                   {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}]}}}, "podAnnotations": {"a": "b"}, "podLabels": {"c": "d"}},
}


def objects(**changes):
    return {document["kind"]: document for documents in Chart(DEPLOY / "helm" / "tern").render(**changes).values() for document in documents}


def invalid(version, documents):
    """Returns the errors of the objects that the API of this version of Kubernetes refuses."""
    errors = []
    for document in documents:
        try:
            kubernetes_validate.validate(document, version, strict=True)
        except kubernetes_validate.ValidationError as error:
            errors.append(f"{document['kind']}: {error.message}")
    return errors


def run(*args):
    """Runs `tern` with these arguments."""
    return subprocess.run([TERN, *map(str, args)], capture_output=True, text=True, timeout=60, check=False)


class Helm(unittest.TestCase):
    def test_kinds(self):
        always = {"ConfigMap", "Deployment", "Service"}
        expected = {"default": {"ServiceAccount"}, "s3": {"ServiceAccount"}, "volume": {"ServiceAccount", "PersistentVolumeClaim"}, "claim": set(),
                    "scaled": {"ServiceAccount", "HorizontalPodAutoscaler", "PodMonitor"}, "placed": {"ServiceAccount"}}
        for name, changes in VARIANTS.items():
            self.assertEqual(set(objects(**changes)), always | expected[name], name)

    def test_parts_fit_together(self):
        for release in ("test", "my-tern"):
            made = objects(release=release, **VARIANTS["scaled"])
            pod = made["Deployment"]["spec"]["template"]
            labels, selector = pod["metadata"]["labels"], made["Deployment"]["spec"]["selector"]["matchLabels"]
            for kind in (selector, made["Service"]["spec"]["selector"], made["PodMonitor"]["spec"]["selector"]["matchLabels"]):
                self.assertLessEqual(kind.items(), labels.items())
            name = "my-tern" if release == "my-tern" else "test-tern"
            self.assertEqual({document["metadata"]["name"] for document in made.values()}, {name})
            self.assertEqual(made["HorizontalPodAutoscaler"]["spec"]["scaleTargetRef"]["name"], name)
            container = pod["spec"]["containers"][0]
            ports = {port["name"] for port in container["ports"]}
            self.assertEqual({port["targetPort"] for port in made["Service"]["spec"]["ports"]}, ports)
            self.assertIn(made["PodMonitor"]["spec"]["podMetricsEndpoints"][0]["port"], ports)
            volumes = {volume["name"] for volume in pod["spec"]["volumes"]}
            self.assertEqual({mount["name"] for mount in container["volumeMounts"]}, volumes)
            self.assertNotIn("replicas", made["Deployment"]["spec"])
            self.assertEqual(pod["spec"]["terminationGracePeriodSeconds"], 30 + 5 + 10)
        self.assertNotEqual(objects()["Deployment"]["spec"]["template"]["metadata"]["annotations"]["checksum/config"],
                            objects(modelControl="none")["Deployment"]["spec"]["template"]["metadata"]["annotations"]["checksum/config"])

    def test_the_server_accepts_the_settings(self):
        """The server reads serve.yml of every variant. The last line names no model, so that it ends."""
        for name, changes in VARIANTS.items():
            text = objects(**changes)["ConfigMap"]["data"]["serve.yml"]
            settings = yaml.safe_load(text)
            self.assertEqual(settings["model-control"], "poll", name)
            with tempfile.TemporaryDirectory() as folder:
                settings["repository"] = [f"{folder}/missing"]
                settings["repository-cache"] = folder
                config = pathlib.Path(folder) / "serve.yml"
                config.write_text(yaml.safe_dump(settings))
                done = run("serve", "--config", config, "--http-port", "0", "--grpc-port", "0", "--metrics-port", "0")
                self.assertEqual(done.returncode, 2)
                self.assertIn("is not a folder that can be read", done.stderr)

    def test_the_container_is_restricted(self):
        spec = objects()["Deployment"]["spec"]["template"]["spec"]
        self.assertTrue(spec["securityContext"]["runAsNonRoot"])
        self.assertEqual(spec["containers"][0]["securityContext"],
                         {"readOnlyRootFilesystem": True, "allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}})
        self.assertFalse(spec["automountServiceAccountToken"])

    def test_the_api_accepts_the_objects(self):
        # A PodMonitor is an object of the Prometheus operator; the API has no schema for it.
        documents = [document for changes in VARIANTS.values() for kind, document in objects(**changes).items() if kind != "PodMonitor"]
        broken = objects()["Deployment"]
        broken["spec"]["replicaz"] = 1
        for version in KUBERNETES:
            self.assertEqual(invalid(version, documents), [])
            self.assertEqual(len(invalid(version, [broken])), 1)

    def test_the_renderer_refuses_what_it_does_not_know(self):
        chart = Chart(DEPLOY / "helm" / "tern")
        for text in (".Values.absent", "lookup 1", "(quote 1", "$x", ".Chart.Absent | quote"):
            with self.assertRaises(TemplateError, msg=text):
                chart.pipeline(text, {"Values": {}, "Chart": {}}, {})


def refuse_unknown(schema):
    """Returns the schema of a definition of Kubernetes as JSON Schema, which refuses unknown fields, as the API server does when it is strict."""
    if isinstance(schema, list):
        return [refuse_unknown(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: refuse_unknown(value) for key, value in schema.items()}
    if "properties" in schema and not schema.get("x-kubernetes-preserve-unknown-fields"):
        out.setdefault("additionalProperties", False)
    if schema.get("x-kubernetes-int-or-string"):
        return {"type": ["integer", "string"]}
    return out


class Kserve(unittest.TestCase):
    def setUp(self):
        self.runtime = yaml.safe_load((DEPLOY / "kserve" / "clusterservingruntime.yaml").read_text())

    def test_the_contract_with_kserve(self):
        """KServe finds the container and its ports by these names and numbers."""
        self.assertEqual((self.runtime["apiVersion"], self.runtime["kind"]), ("serving.kserve.io/v1alpha1", "ClusterServingRuntime"))
        spec = self.runtime["spec"]
        self.assertEqual(spec["protocolVersions"], ["v2", "grpc-v2"])
        container = spec["containers"][0]
        self.assertEqual(container["name"], "kserve-container")
        self.assertIn("--model={{.Name}}=/mnt/models", container["args"])
        self.assertIn("--http-port=8080", container["args"])
        self.assertIn("--grpc-port=9000", container["args"])
        names = [(known["name"], known["version"]) for known in spec["supportedModelFormats"]]
        self.assertEqual(len(names), len(set(names)))

    def test_the_pod_is_valid(self):
        """The fields that KServe copies into a pod are validated as one. The fields of its own are tested with kserve's classes, in the suite kserve."""
        spec = self.runtime["spec"]
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "tern", "annotations": spec["annotations"]},
               "spec": {key: spec[key] for key in ("containers", "volumes")}}
        for version in KUBERNETES:
            self.assertEqual(invalid(version, [pod]), [])


    @unittest.skipUnless(os.environ.get("TERN_KSERVE_CRD"), "TERN_KSERVE_CRD does not name kserve's serving.kserve.io_clusterservingruntimes.yaml")
    def test_the_schema_of_kserve(self):
        definition = yaml.safe_load(pathlib.Path(os.environ["TERN_KSERVE_CRD"]).read_text())
        schema = next(version["schema"]["openAPIV3Schema"] for version in definition["spec"]["versions"] if version["name"] == "v1alpha1")
        validator = jsonschema.Draft7Validator(refuse_unknown({**schema, "properties": {**schema["properties"], "metadata": {"type": "object"}}}))
        self.assertEqual([error.message for error in validator.iter_errors(self.runtime)], [])
        self.runtime["spec"]["containerz"] = []
        self.assertNotEqual(list(validator.iter_errors(self.runtime)), [])


@unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is missing")
class Systemd(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="tern_unit_")
        self.addCleanup(holder.cleanup)
        self.unit = pathlib.Path(holder.name) / "tern.service"
        self.unit.write_text((DEPLOY / "systemd" / "tern.service").read_text().replace("/usr/bin/tern", str(TERN)))

    def analyze(self, *args):
        return subprocess.run(["systemd-analyze", *args, self.unit], capture_output=True, text=True, check=False)

    def test_the_unit_is_valid(self):
        done = self.analyze("verify", "--recursive-errors=no", "--man=no")
        self.assertEqual((done.returncode, [line for line in done.stderr.splitlines() if "tern.service" in line]), (0, []), done.stderr)
        self.unit.write_text(self.unit.read_text().replace("Type=exec", "Type=nothing"))
        self.assertNotEqual(self.analyze("verify", "--recursive-errors=no", "--man=no").stderr, "")

    def test_the_unit_is_hardened(self):
        """The exposure that systemd computes, from 0 to 10, times 10."""
        done = self.analyze("security", "--offline=true", "--threshold=15", "--no-pager")
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr)

    def test_the_settings_are_accepted(self):
        settings = yaml.safe_load((DEPLOY / "systemd" / "serve.yml").read_text())
        self.assertEqual(settings["repository"], ["/srv/models"])
        done = run("serve", "--config", DEPLOY / "systemd" / "serve.yml", "--repository", "/nonexistent")
        self.assertIn("'/nonexistent' is not a folder that can be read", done.stderr)


if __name__ == "__main__":
    unittest.main()
