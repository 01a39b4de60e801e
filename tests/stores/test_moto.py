"""`tern serve` against moto, an independent implementation of S3. TERN_STORES_PYTHON is a Python with moto; the suite `stores` makes one."""

import os
import pathlib
import re
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

from serving import wait_for  # pylint: disable=wrong-import-position
from test_stores import POLL, StoreTest, plus  # pylint: disable=wrong-import-position

KEYS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_EC2_METADATA_DISABLED": "true"}


class Moto(StoreTest):
    def setUp(self):
        super().setUp()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process = None
        self.addCleanup(self.stop)
        self.start()

    def start(self):
        command = [os.environ["TERN_STORES_PYTHON"], "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def answers():
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", self.port)) == 0

        wait_for(answers)

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    @property
    def endpoint(self):
        return f"http://127.0.0.1:{self.port}"

    def client(self, *args, data=b""):
        """Runs boto3 in the Python of moto, as the uploader does."""
        done = subprocess.run([os.environ["TERN_STORES_PYTHON"], HERE / "upload.py", self.endpoint, *args], input=data, capture_output=True,
                              check=False, timeout=60, env={**os.environ, **KEYS})
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def test_versions_follow_the_bucket(self):
        self.client("create", "models")
        self.client("put", "models", "prod/add/1/model.onnx", data=plus(1))
        self.client("put", "models", "prod/a model+%/1/model.onnx", data=plus(7))
        self.client("put", "models", "prod/kms/1/model.onnx", "--kms", data=plus(8))  # its ETag is not an MD5
        self.client("multipart", "models", "prod/parts/1/model.onnx", data=plus(9))
        env = {**KEYS, "AWS_ENDPOINT_URL_S3": self.endpoint}
        server = self.serve("--repository", "s3://models/prod", *POLL, "--repository-cache", self.dir / "cache", "--store-attempts", "2", env=env)
        names = ("add", "a%20model+%25", "kms", "parts")
        self.assertEqual([self.value(server, name) for name in names], [1, 7, 8, 9])
        self.client("put", "models", "prod/add/2/model.onnx", data=plus(2))
        wait_for(lambda: self.value(server) == 2)
        # S3 is gone while the server serves and polls.
        self.stop()
        wait_for(lambda: self.metric(server, "tern_repository_up") == 0)
        self.assertEqual([self.value(server, name) for name in names], [2, 7, 8, 9])
        # It comes back empty, as moto does: the bucket is missing, which is not an empty repository.
        self.start()
        wait_for(lambda: self.metric(server, "tern_repository_failed_listings_total") >= 2)
        time.sleep(3)
        self.assertEqual([self.value(server, name) for name in names], [2, 7, 8, 9])
        self.client("create", "models")
        for name, value in (("add", 3), ("a model+%", 7), ("kms", 8), ("parts", 9)):
            self.client("put", "models", f"prod/{name}/1/model.onnx", data=plus(value))
        wait_for(lambda: self.value(server) == 3)
        self.assertEqual(server.stop(), 0)

    def test_pages_and_credentials(self):
        self.client("create", "models")
        self.client("many", "models", "prod/add/1/", "1100")
        self.client("put", "models", "prod/add/1/model.onnx", data=plus(5))
        server = self.serve("--repository", f"s3://{self.endpoint}/models/prod", env=KEYS)
        self.assertEqual(self.value(server), 5)
        # moto's STS gives credentials for a web identity; a file has long-lived ones.
        token, credentials = self.dir / "token", self.dir / "credentials"
        token.write_text("token\n")
        credentials.write_text("[default]\naws_access_key_id = testing\naws_secret_access_key = testing\n")
        for env in ({"AWS_WEB_IDENTITY_TOKEN_FILE": str(token), "AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/tern", "AWS_ENDPOINT_URL": self.endpoint},
                    {"AWS_SHARED_CREDENTIALS_FILE": str(credentials)}):
            server = self.serve("--repository", "s3://models/prod", "--s3-endpoint", self.endpoint, "--s3-addressing", "path",
                                env={"AWS_EC2_METADATA_DISABLED": "true", **env})
            self.assertEqual(self.value(server), 5)
            self.assertFalse(re.search("error|warning", server.text()), server.text())
