"""The server names the stage that is slow, in its metrics, in `tern top` and in an alert. Also the payload log, the alert
rules and the board."""

import http.client
import json
import pathlib
import re
import shutil
import subprocess
import threading
import time
import unittest
import urllib.request

import numpy as np

from serving import ROOT, ServeTest, identity, infer_body, wait_for

DEPLOY = ROOT / "deploy"
CACHED = "response_cache { enable: true }\n"
STAGES = ("parse", "queue", "input", "compute", "output", "cache")


class Traffic(threading.Thread):
    """Sends different requests, one after the other, until it is stopped. Counts those that fail."""

    def __init__(self, server, pause=0.01):
        super().__init__(daemon=True)
        self.server, self.pause, self.failed, self.sent, self.stopped = server, pause, 0, 0, False
        self.start()

    def run(self):
        connection = http.client.HTTPConnection(self.server.http, timeout=30)
        while not self.stopped:
            request = infer_body("x", np.full((1, 2), self.sent, np.float32))
            connection.request("POST", "/v2/models/m/infer", json.dumps(request))
            answer = connection.getresponse()
            answer.read()
            self.sent += 1
            self.failed += answer.status != 200
            time.sleep(self.pause)
        connection.close()

    def stop(self):
        self.stopped = True
        self.join()


def metrics(server):
    return server.call("GET", "/metrics", port="metrics")[2].decode()


def bottleneck(server):
    found = re.findall(r'^tern_bottleneck\{model="m",version="1",stage="(\w+)"\} 1$', metrics(server), re.M)
    return found[0] if found else None


class Prometheus:
    """Debian's Prometheus with the shipped rules. Only their waiting time is shorter."""

    def __init__(self, test, server):
        rules = (DEPLOY / "prometheus/tern.rules.yml").read_text()
        self.folder = test.dir / "prometheus"
        self.folder.mkdir()
        (self.folder / "tern.rules.yml").write_text(re.sub(r"for: \w+", "for: 1s", rules))
        (self.folder / "prometheus.yml").write_text(
            "global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [tern.rules.yml]\n"
            f"scrape_configs: [{{job_name: tern, static_configs: [{{targets: ['{server.metrics}']}}]}}]\n")
        log = open(self.folder / "log", "w+")
        self.process = subprocess.Popen(["prometheus", f"--config.file={self.folder}/prometheus.yml", f"--storage.tsdb.path={self.folder}/data",
                                         "--web.listen-address=127.0.0.1:0"], stdout=log, stderr=subprocess.STDOUT)
        test.addCleanup(lambda: (self.process.kill(), self.process.wait(), log.close()))
        self.place = None
        wait_for(self.find_place)

    def find_place(self):
        found = re.search(r'msg="Listening on" address=(\S+)', (self.folder / "log").read_text())
        self.place = found and found.group(1)
        return bool(found)

    def firing(self):
        with urllib.request.urlopen(f"http://{self.place}/api/v1/alerts", timeout=10) as answer:
            alerts = json.load(answer)["data"]["alerts"]
        return {(alert["labels"]["alertname"], alert["labels"].get("stage")): alert for alert in alerts if alert["state"] == "firing"}


class Diagnosis(ServeTest):
    def inject(self, text):
        (self.dir / "delays").write_text(text)

    def shown(self, server, stage):
        """Whether `tern top` names the stage and shows how much it has grown."""
        model = self.json("top", server.metrics, "--once", "--json", "--interval", "0.2")["models"][0]
        return model["bottleneck"] == stage and model["bottleneck_ms"] - model["bottleneck_usual_ms"] > 5

    def diagnose(self, with_prometheus):
        self.inject("")
        server = self.serve("--repository", self.repository({"m": (identity(), CACHED)}), "--cache", "local:size=1M",
                            env={"TERN_TEST_DELAY_FILE": str(self.dir / "delays")})
        prometheus = Prometheus(self, server) if with_prometheus else None
        traffic = Traffic(server)
        self.addCleanup(traffic.stop)
        # The usual times are known 5 s after the first 10 s.
        wait_for(lambda: 'tern_stage_usual_seconds{model="m",version="1",stage="queue"}' in metrics(server))
        time.sleep(16)
        for stage in STAGES:
            with self.subTest(stage=stage):
                self.inject(f"{stage} 20\n")
                wait_for(lambda: bottleneck(server) == stage, 40)
                wait_for(lambda: self.shown(server, stage), 40)
                self.assertIn(f"{stage} ", self.ok("top", server.metrics, "--once", "--interval", "0.2").stdout)
                if prometheus:
                    wait_for(lambda: ("TernStageSlow", stage) in prometheus.firing(), 40)
                    alert = prometheus.firing().get(("TernStageSlow", stage))
                    if alert:
                        self.assertIn(f"in the stage '{stage}'", alert["annotations"]["description"])
        traffic.stop()
        self.assertEqual((traffic.failed, traffic.sent > 500), (0, True), traffic.sent)

    @unittest.skipIf(shutil.which("prometheus"), "test_with_prometheus does the same")
    def test_metrics_and_top(self):
        self.diagnose(False)

    @unittest.skipIf(shutil.which("prometheus") is None, "prometheus is not installed (scripts/deps operations)")
    def test_with_prometheus(self):
        self.diagnose(True)


class Shipped(ServeTest):
    """Every metric that the rules and the board name exists."""

    def test_names_of_metrics(self):
        with_everything = self.serve("--repository", self.repository({"m": (identity(), CACHED)}), "--cache", "local:size=1M",
                                     "--cache", "redis:host=127.0.0.1,port=1", "--payload-log", self.dir / "payload")
        metrics(with_everything)  # the first sample
        for value in range(6):
            self.assertEqual(with_everything.json("POST", "/v2/models/m/infer", infer_body("x", np.full((1, 2), value, np.float32)))[0], 200)
        time.sleep(1.1)
        names = set(re.findall(r"^(\w+)", metrics(with_everything), re.M)) | {"up", "tern_energy_joules_total", "tern_energy_joules_per_request"}
        for path in (DEPLOY / "prometheus/tern.rules.yml", DEPLOY / "grafana/tern.json"):
            used = set(re.findall(r"\b(?:nv|tern|process|up)_\w+|\bup\b(?=\{)", path.read_text()))
            self.assertTrue(used)
            self.assertEqual(used - names, set(), path.name)

    def test_board(self):
        board = json.loads((DEPLOY / "grafana/tern.json").read_text())
        ids = [panel["id"] for panel in board["panels"]]
        self.assertEqual(len(ids), len(set(ids)))
        places = [(p["gridPos"]["x"], p["gridPos"]["y"]) for p in board["panels"]]
        self.assertEqual(len(places), len(set(places)))
        for panel in board["panels"]:
            self.assertTrue(panel["title"] and all(target["expr"] for target in panel["targets"]))

    @unittest.skipIf(shutil.which("promtool") is None, "promtool is not installed (scripts/deps operations)")
    def test_rules(self):
        for command in (["check", "rules", "tern.rules.yml"], ["test", "rules", "tern.rules.test.yml"]):
            done = subprocess.run(["promtool", *command], cwd=DEPLOY / "prometheus", capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @unittest.skipIf(shutil.which("promtool") is None, "promtool is not installed (scripts/deps operations)")
    def test_queries_of_the_board(self):
        board = json.loads((DEPLOY / "grafana/tern.json").read_text())
        queries = [target["expr"].replace("$__rate_interval", "1m") for panel in board["panels"] for target in panel["targets"]]
        rules = self.dir / "board.yml"
        rules.write_text(json.dumps({"groups": [{"name": "board", "rules": [
            {"record": f"board:{i}", "expr": query} for i, query in enumerate(queries)]}]}))
        done = subprocess.run(["promtool", "check", "rules", rules], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class PayloadLog(ServeTest):
    def test_requests_can_be_sent_again(self):
        log = self.dir / "payload.jsonl"
        server = self.serve("--repository", self.repository({"m": (identity(), None)}), "--payload-log", log, "--payload-rate", "2")
        for value in range(10):
            server.json("POST", "/v2/models/m/infer", {"id": str(value), **infer_body("x", np.full((1, 2), value, np.float32))})
        wait_for(lambda: len(log.read_text().splitlines()) == 5)
        for line in map(json.loads, log.read_text().splitlines()):
            status, answer = server.json("POST", f"/v2/models/{line['model']}/versions/{line['version']}/infer", line["request"])
            self.assertEqual(status, 200)
            self.assertEqual(answer["outputs"], line["response"]["outputs"])
        report = self.json("load", server.http, "m", "--recorded", log, "--seconds", "0.5", "--warmup", "0", "--json")
        self.assertEqual((report["errors"], report["answers"] > 10), (0, True), report)
        log_of_others = self.dir / "others.jsonl"
        log_of_others.write_text('{"model":"other","request":{"inputs":[]}}\n')
        self.refused("load", server.http, "m", "--recorded", log_of_others, says="has no request for model 'm'")
        log_of_others.write_text('{"inputs":[]}\nx\n')
        self.refused("load", server.http, "m", "--recorded", log_of_others, says="line 2 is not a JSON object")
        self.assertEqual(pathlib.Path(log).stat().st_mode & 0o777, 0o600)
        self.refused("serve", "--payload-log", "/nonexistent/x", says="/nonexistent/x")

    def test_off_by_default(self):
        server = self.serve("--repository", self.repository({"m": (identity(), None)}))
        self.assertNotIn("payload", metrics(server))
