"""Tokens and certificates for tests of a server with access control."""

import datetime
import pathlib
import shutil
import subprocess

from support import run

CA_CONFIG = """
[ca]
default_ca = test
[test]
new_certs_dir = {folder}
database = {folder}/index.txt
serial = {folder}/serial
default_md = sha256
policy = any
unique_subject = no
copy_extensions = copy
[any]
commonName = supplied
"""


def has_openssl():
    return shutil.which("openssl") is not None


def tool(*args):
    subprocess.run(["openssl", *map(str, args)], check=True, capture_output=True)


class Authority:
    """A certificate authority in a folder. `ca` is its certificate."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir()
        (self.folder / "index.txt").touch()
        (self.folder / "serial").write_text("01\n")
        (self.folder / "ca.cnf").write_text(CA_CONFIG.format(folder=self.folder))
        self.ca, self.key = self.folder / "ca.pem", self.folder / "ca.key"
        tool("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=authority",
             "-keyout", self.key, "-out", self.ca)

    def issue(self, name, seconds=86400, san="IP:127.0.0.1"):
        """Makes NAME.pem, which expires after so many seconds, and NAME.key. Returns their paths."""
        request, cert, key = (self.folder / f"{name}.{kind}" for kind in ("csr", "pem", "key"))
        tool("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
             "-addext", f"subjectAltName={san}", "-keyout", key, "-out", request)
        now = datetime.datetime.now(datetime.timezone.utc)
        times = [(now + datetime.timedelta(seconds=s)).strftime("%Y%m%d%H%M%SZ") for s in (-3600, seconds)]
        tool("ca", "-batch", "-notext", "-config", self.folder / "ca.cnf", "-cert", self.ca, "-keyfile", self.key, "-startdate", times[0],
             "-enddate", times[1], "-in", request, "-out", cert)
        return cert, key


def make_token(file, name, *args):
    """Adds a token to an access file with `tern token`. Returns the token."""
    done = run("token", file, "--name", name, *args)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def bearer(token):
    return {"Authorization": f"Bearer {token}"}
