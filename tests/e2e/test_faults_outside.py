"""Faults of clients and of the machine: every accepted request gets exactly one answer, counted by the client."""

import contextlib
import http.client
import json
import pathlib
import re
import resource
import shutil
import signal
import socket
import subprocess
import time
import unittest
import unittest.mock

import numpy as np

import serving
from fault_load import Load, echo
from faults import FULL, FaultTest, resident_mb
from serving import identity, infer_body, slow, wait_for


class Clients(FaultTest):
    def wide(self, *args):
        return self.serve("--repository", self.repository({"m": (identity(), None)}), *args)

    def test_slow_clients(self):
        """They send, or read, one byte every 100 ms. Others are not delayed, and the slow ones get their whole answers."""
        server = self.wide()
        body = json.dumps(infer_body("x", np.ones((1, 2), np.float32))).encode()
        head = f"POST /v2/models/m/infer HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        count, seconds = (200, 20) if FULL else (20, 2)
        slow_ones = [socket.create_connection(("127.0.0.1", server.ports["http"]), timeout=30) for _ in range(count)]
        texts = [b""] * count
        for i, each in enumerate(slow_ones):  # the even ones read slowly, the odd ones write slowly
            if i % 2 == 0:
                each.sendall(head + body)
        with Load(server.ports["http"], echo("m"), 2) as load:
            for step in range(10 * seconds):
                for i, each in enumerate(slow_ones):
                    if i % 2 == 0:
                        if not texts[i].endswith(b"]}]}"):
                            texts[i] += each.recv(1)
                    else:
                        each.sendall((head + body)[step:step + 1])
                time.sleep(0.1)
        for i, each in enumerate(slow_ones):
            if i % 2:
                each.sendall((head + body)[10 * seconds:])
            while not texts[i].endswith(b"]}]}"):
                more = each.recv(4096)
                self.assertTrue(more, f"client {i} got only {texts[i]}")
                texts[i] += more
            self.assertIn(b"200 OK", texts[i])
            each.close()
        self.every_answer(load.counter, 200)
        self.assertLess(load.counter.percentile(0.99), 1.0)

    def test_idle_connections(self):
        count = 10_000 if FULL else 500
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        if 0 <= hard < count + 500:
            self.skipTest(f"this user may open {hard} files only")
        wrapper = self.dir / "tern"  # starts the server with a low limit, which it raises
        wrapper.write_text(f'#!/bin/sh\nulimit -S -n 256\nexec "{serving.TERN}" "$@"\n')
        wrapper.chmod(0o755)
        with unittest.mock.patch.object(serving, "TERN", str(wrapper)):
            server = self.wide("--max-connections", count + 100)
        with Load(server.ports["http"], echo("m"), 2) as load:
            load.wait_answers(50)
            before, connections = resident_mb(server.process.pid), []
            soft = self.raise_limit(count + 500)
            try:
                for _ in range(count):
                    connections.append(socket.create_connection(("127.0.0.1", server.ports["http"]), timeout=30))
                wait_for(lambda: self.metric(server, r'tern_connections\{protocol="http"\}') >= count)
                load.wait_answers(200)
                after = resident_mb(server.process.pid)
                # Each idle connection still works.
                for each in connections[::max(1, count // 50)]:
                    each.sendall(b"GET /v2/health/live HTTP/1.1\r\nHost: x\r\n\r\n")
                    self.assertIn(b"200 OK", each.recv(4096))
            finally:
                for each in connections:
                    each.close()
                self.raise_limit(soft)
        self.every_answer(load.counter, 200)
        per_connection = (after - before) * 1024 / count
        print(f"{count} idle connections: {before:.1f} MB before, {after:.1f} MB, {per_connection:.1f} KiB each")
        self.assertLess(per_connection, 16, "KiB per idle connection")
        wait_for(lambda: self.metric(server, r'tern_connections\{protocol="http"\}') < 20)

    @staticmethod
    def raise_limit(files):
        """Sets the limit of open files of this process. Returns the limit before."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if files > soft or files < soft:
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
        return soft

    def test_half_open_sockets(self):
        """Clients that close one direction get one answer: the server cannot know whether they still read, and may cancel the request.
        Those that vanish are forgotten."""
        server = self.wide("--idle-secs", 2)
        body = json.dumps(infer_body("x", np.ones((1, 2), np.float32))).encode()
        request = f"POST /v2/models/m/infer HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
        count, vanished = (300 if FULL else 30), 0
        with Load(server.ports["http"], echo("m"), 2) as load:
            for i in range(count):
                each = socket.create_connection(("127.0.0.1", server.ports["http"]), timeout=30)
                if i % 3 == 0:
                    each.sendall(request)
                    each.shutdown(socket.SHUT_WR)
                    text = b""
                    while more := each.recv(4096):
                        text += more
                    self.assertEqual(text.count(b"HTTP/1.1 "), 1, text)
                    self.assertTrue(b"200 OK" in text or b"the request was cancelled" in text, text)
                elif i % 3 == 1:  # a reset inside a request
                    each.sendall(request[:len(request) // 2])
                    each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                else:  # without FIN, as a machine that loses its power
                    each.sendall(request[:-1])
                    with contextlib.suppress(OSError):
                        each.setsockopt(socket.IPPROTO_TCP, 19, 1)  # TCP_REPAIR, for root only
                        vanished += 1
                each.close()
            wait_for(lambda: self.metric(server, r'tern_connections\{protocol="http"\}') <= 3, 90)
        self.every_answer(load.counter, 200)
        print(f"{count} broken connections, of which {vanished} vanished without FIN")

    def test_sigterm_under_load(self):
        for _ in range(10 if FULL else 1):
            shutil.rmtree(self.dir / "models", ignore_errors=True)
            server = self.serve("--repository", self.repository({"m": (slow(), None)}))
            data = np.ones((64, 512), np.float32).ravel().tolist()
            body = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [64, 512], "data": data}], "outputs": [{"name": "y"}]}
            with Load(server.ports["http"], lambda n, b=body: ("/v2/models/m/infer", dict(b), lambda f: True), 6) as load:
                load.wait_answers(12)
                server.process.send_signal(signal.SIGTERM)
                self.assertEqual(server.process.wait(40), 0)
            self.every_answer(load.counter, 200, 503)
            self.assertGreaterEqual(load.counter.refused, 1)


class System(FaultTest):
    def test_disk_full(self):
        """The access log and the traces go to a full disk. Requests are answered, and the log goes on when there is room again."""
        disk, models = self.dir / "disk", self.repository({"m": (identity(), None)})
        disk.mkdir()
        script = 'mount -t tmpfs -o size=64k tmpfs "$0" && head -c 60000 /dev/zero > "$0/filler" && exec "$@"'
        probe = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, disk, "true"], check=False,
                               capture_output=True)
        if probe.returncode != 0:
            self.skipTest("this system permits no mount in a user namespace")
        wrapper = self.dir / "tern"
        wrapper.write_text(f'#!/bin/sh\nexec unshare --user --map-root-user --mount sh -c \'{script}\' "{disk}" "{serving.TERN}" "$@"\n')
        wrapper.chmod(0o755)
        with unittest.mock.patch.object(serving, "TERN", str(wrapper)):
            server = self.serve("--repository", models, "--log", disk / "access.log", "--trace-file", disk / "traces.json", "--trace-rate", 1)
        inside = pathlib.Path(f"/proc/{server.process.pid}/root{disk}")
        with Load(server.ports["http"], echo("m"), 2) as load:
            load.wait_answers(3000 if FULL else 400)
            wait_for(lambda: self.metric(server, "tern_access_log_dropped_total") > 0)
            load.wait_answers(100)
            (inside / "filler").unlink()
            for file in inside.glob("traces.json*"):
                file.write_bytes(b"")
            (inside / "access.log").write_bytes(b"")
            load.wait_answers(100)
        self.every_answer(load.counter, 200)
        wait_for(lambda: (inside / "access.log").stat().st_size > 0)
        self.assertEqual(server.stop(), 0)

    def test_full_devices(self):
        """Files on which every write fails, from the first one on."""
        server = self.serve("--repository", self.repository({"m": (identity(), None)}), "--log", "/dev/full", "--trace-file", "/dev/full",
                            "--trace-rate", 1)
        with Load(server.ports["http"], echo("m"), 2) as load:
            load.wait_answers(100)
        self.every_answer(load.counter, 200)
        self.assertEqual(server.stop(), 0)

    def clock(self):
        """Builds a library that moves the wall clock by the number of seconds in a file. Returns the environment and the file."""
        source, library, offset = self.dir / "clock.c", self.dir / "clock.so", self.dir / "offset"
        source.write_text(CLOCK % str(offset))
        offset.write_bytes(np.int64(0).tobytes())
        built = subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], capture_output=True, text=True, check=False)
        if built.returncode != 0:
            self.skipTest(f"no C compiler: {built.stderr[:200]}")
        return {"LD_PRELOAD": str(library)}, offset

    def test_clock_jump(self):
        """The wall clock jumps by years in both directions. No time-out expires early or late: they use the steady clock."""
        env, offset = self.clock()
        root = self.repository({"m": (identity(), 'max_batch_size: 8 dynamic_batching { max_queue_delay_microseconds: 20000 '
                                                  'default_queue_policy { default_timeout_microseconds: 3000000 } }')})
        server = self.serve("--repository", root, "--log", self.dir / "access.log", "--model-control", "poll", "--poll-secs", 1, env=env)
        idle = http.client.HTTPConnection("127.0.0.1", server.ports["http"], timeout=30)
        idle.connect()
        years = 365 * 86400

        def jump_to(seconds):
            with open(offset, "r+b") as file:  # the server maps the file, so it must not become shorter
                file.write(np.int64(seconds).tobytes())

        with Load(server.ports["http"], echo("m"), 3) as load:
            load.wait_answers(20)
            for jump in [10 * years, -years, 3600, -3600, 0] * (3 if FULL else 1):
                jump_to(jump)
                load.wait_answers(30)
            jump_to(10 * years)
            load.wait_answers(20)
            idle.request("GET", "/v2/health/ready")
            self.assertEqual(idle.getresponse().status, 200, "the idle connection was not closed")
            # The repository is still polled.
            shutil.copytree(root / "m/1", root / "m/2")
            wait_for(lambda: server.call("GET", "/v2/models/m/versions/2/ready")[0] == 200)
        self.every_answer(load.counter, 200)
        self.assertLess(load.counter.percentile(1.0), 2.0)
        wait_for(lambda: any(int(year) >= 2034 for year in re.findall(r'"time":"(\d+)-', (self.dir / "access.log").read_text())))
        self.assertEqual(server.stop(), 0)


CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static int64_t Offset(void) {
  static volatile int64_t* shared;
  if (!shared) {
    const int fd = open("%s", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    void* memory = mmap(0, 8, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (memory == MAP_FAILED) return 0;
    shared = memory;
  }
  return *shared;
}
int clock_gettime(clockid_t clock, struct timespec* time) {
  static int (*real)(clockid_t, struct timespec*);
  if (!real) real = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
  const int result = real(clock, time);
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) time->tv_sec += Offset();
  return result;
}
int gettimeofday(struct timeval* restrict time, void* restrict zone) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}
time_t time(time_t* out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out) *out = now.tv_sec;
  return now.tv_sec;
}
"""

if __name__ == "__main__":
    unittest.main()
