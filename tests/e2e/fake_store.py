"""Servers with the interfaces of S3 and Google Cloud Storage, in this process, with faults on demand.

The S3 part checks signatures by a computation of its own, so that a wrong signature of Tern is refused."""

import base64
import email.utils
import hashlib
import hmac
import http.server
import json
import socket
import threading
import time
import urllib.parse
from xml.sax.saxutils import escape

ACCESS_KEY, SECRET_KEY, TOKEN = "AKIDEXAMPLE", "secret/key+of=tests", "a-session-token"


class Objects:
    """The content of a bucket, and the faults of its server. Thread-safe as far as the tests need it."""

    def __init__(self):
        self.data, self.times, self.generations = {}, {}, {}
        self.requests = []  # "GET /path"
        self.connections = []
        self.page = 1000
        self.failures = 0  # the next requests fail with status 503
        self.cut = 0  # the next downloads break off in the middle
        self.corrupt = set()  # keys whose content is wrong
        self.slow = 0.0  # seconds between two blocks of a download
        self.md5 = True

    def put(self, key, content, age=0):
        self.data[key] = content if isinstance(content, bytes) else content.encode()
        self.times[key] = time.time() - age
        self.generations[key] = self.generations.get(key, 0) + 1

    def put_folder(self, prefix, folder, age=0):
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self.put(f"{prefix}{path.relative_to(folder)}", path.read_bytes(), age)

    def delete(self, prefix):
        for key in [key for key in self.data if key.startswith(prefix)]:
            del self.data[key]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    objects: Objects
    bucket = "models"

    def setup(self):
        self.objects.connections.append(self.request)
        super().setup()

    def log_message(self, *args):  # pylint: disable=arguments-differ
        pass

    def do_GET(self):
        objects = self.objects
        objects.requests.append(f"GET {self.path}")
        if objects.failures > 0:
            objects.failures -= 1
            self.answer(503, b"<Error><Code>SlowDown</Code><Message>Reduce your request rate</Message></Error>")
            return
        url = urllib.parse.urlsplit(self.path)
        self.route(urllib.parse.unquote(url.path), url.path, dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True)))

    def answer(self, status, body, **fields):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def content(self, key, **fields):
        objects, body, status = self.objects, self.objects.data[key], 200
        if key in objects.corrupt:
            body = bytes([body[0] ^ 1]) + body[1:]
        asked = self.headers.get("Range")
        if asked:
            begin, status = int(asked.removeprefix("bytes=").rstrip("-")), 206
            fields["Content_Range"] = f"bytes {begin}-{len(body) - 1}/{len(body)}"
            body = body[begin:]
        if objects.cut > 0 and len(body) > 1:
            objects.cut -= 1
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            for name, value in fields.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(body[:len(body) // 2])
            self.close_connection = True
            return
        if not objects.slow:
            self.answer(status, body, **fields)
            return
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        for at in range(0, len(body), 100):
            self.wfile.write(body[at:at + 100])
            self.wfile.flush()
            time.sleep(objects.slow)


class S3Handler(Handler):
    def signature(self, raw_path, query):
        """Returns the signature that this request should have."""
        given = self.headers["Authorization"]
        scope = given.partition("Credential=")[2].partition(",")[0].split("/")
        names = given.partition("SignedHeaders=")[2].partition(",")[0]
        fields = "".join(f"{name}:{' '.join(self.headers[name].split())}\n" for name in names.split(";"))
        quote = lambda text: urllib.parse.quote(text, safe="-_.~")
        canonical_query = "&".join(f"{quote(name)}={quote(value)}" for name, value in sorted(query.items()))
        canonical = "\n".join(["GET", raw_path, canonical_query, fields, names, hashlib.sha256(b"").hexdigest()])
        text = "\n".join(["AWS4-HMAC-SHA256", self.headers["x-amz-date"], "/".join(scope[1:]), hashlib.sha256(canonical.encode()).hexdigest()])
        key = ("AWS4" + SECRET_KEY).encode()
        for part in scope[1:]:
            key = hmac.digest(key, part.encode(), "sha256")
        return scope[0], hmac.new(key, text.encode(), "sha256").hexdigest()

    def allowed(self, raw_path, query):
        if not self.headers.get("Authorization"):
            return False
        access_key, expected = self.signature(raw_path, query)
        return access_key == ACCESS_KEY and self.headers.get("x-amz-security-token") == TOKEN and self.headers["Authorization"].endswith(f"Signature={expected}")

    def route(self, path, raw_path, query):
        if not self.allowed(raw_path, query):
            self.answer(403, b"<Error><Code>SignatureDoesNotMatch</Code><Message>no</Message></Error>")
            return
        _, bucket, key = path.split("/", 2)
        if bucket != self.bucket:
            self.answer(404, b"<Error><Code>NoSuchBucket</Code><Message>no such bucket</Message></Error>")
        elif not key:
            self.list(query)
        elif key not in self.objects.data:
            self.answer(404, b"<Error><Code>NoSuchKey</Code><Message>no such key</Message></Error>")
        elif self.headers.get("If-Match") != self.etag(key):
            self.answer(412, b"<Error><Code>PreconditionFailed</Code><Message>changed</Message></Error>")
        else:
            self.content(key, ETag=self.etag(key))

    def etag(self, key):
        return f'"{hashlib.md5(self.objects.data[key]).hexdigest()}"'

    def list(self, query):
        keys = sorted(key for key in self.objects.data if key.startswith(query.get("prefix", "")))
        begin = int(query.get("continuation-token", "0"))
        page, quote = keys[begin:begin + self.objects.page], lambda text: urllib.parse.quote_plus(text, safe="/-_.~")
        more = begin + len(page) < len(keys)
        entries = "".join(
            f"<Contents><Key>{escape(quote(key))}</Key><LastModified>{time.strftime('%Y-%m-%dT%H:%M:%S.000Z', time.gmtime(self.objects.times[key]))}"
            f"</LastModified><ETag>{escape(self.etag(key), {chr(34): '&quot;'})}</ETag><Size>{len(self.objects.data[key])}</Size></Contents>" for key in page)
        body = ('<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
                f"<EncodingType>url</EncodingType><IsTruncated>{str(more).lower()}</IsTruncated>{entries}"
                + (f"<NextContinuationToken>{begin + len(page)}</NextContinuationToken>" if more else "") + "</ListBucketResult>")
        self.answer(200, body.encode(), Content_Type="application/xml")


class GoogleHandler(Handler):
    def route(self, path, raw_path, query):
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self.answer(401, b"{}")
            return
        root = f"/storage/v1/b/{self.bucket}/o"
        if path == root:
            self.list(query)
            return
        key = urllib.parse.unquote(raw_path.removeprefix(root + "/"))
        if key not in self.objects.data:
            self.answer(404, b"{}")
        elif query.get("ifGenerationMatch") != str(self.objects.generations[key]):
            self.answer(412, b"{}")
        else:
            self.content(key)

    def list(self, query):
        keys = sorted(key for key in self.objects.data if key.startswith(query.get("prefix", "")))
        begin = int(query.get("pageToken", "0"))
        page, objects = keys[begin:begin + self.objects.page], self.objects
        items = [{"name": key, "size": str(len(objects.data[key])), "generation": str(objects.generations[key]),
                  "md5Hash": base64.b64encode(hashlib.md5(objects.data[key]).digest()).decode(),
                  "updated": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(objects.times[key]))} for key in page]
        body = {"items": items} if items else {}
        if begin + len(page) < len(keys):
            body["nextPageToken"] = str(begin + len(page))
        self.answer(200, json.dumps(body).encode(), Date=email.utils.formatdate(usegmt=True))


class WebHandler(Handler):
    """Serves the objects as files, without a list."""

    def route(self, path, raw_path, query):
        if path.startswith("/moved/"):
            self.answer(302, b"", Location="/" + raw_path.removeprefix("/moved/"))
        elif path[1:] in self.objects.data:
            self.content(path[1:])
        else:
            self.answer(404, b"not here")


class FakeStore:
    """A server in a thread. `stop` makes it unreachable; `start` brings it back on the same port."""

    def __init__(self, handler=S3Handler):
        self.objects = Objects()
        self.handler = type("BoundHandler", (handler,), {"objects": self.objects})
        self.port, self.server = 0, None
        self.start()

    def start(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), self.handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self):
        if self.server:
            self.server.shutdown()
            self.server.server_close()
            for connection in self.objects.connections:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass  # it is closed already
            self.objects.connections.clear()
            self.server = None

    @property
    def endpoint(self):
        return f"http://127.0.0.1:{self.port}"

    def __getattr__(self, name):
        return getattr(self.objects, name)
