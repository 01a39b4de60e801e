"""A small Redis for tests: PING, GET and SET."""

import socket
import socketserver
import threading


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        self.server.clients.add(self.connection)
        try:
            while True:
                line = self.rfile.readline()
                if not line:
                    return
                words = []
                for _ in range(int(line[1:])):
                    size = int(self.rfile.readline()[1:])
                    words.append(self.rfile.read(size + 2)[:-2])
                self.wfile.write(self.answer(*words))
        except OSError:
            pass
        finally:
            self.server.clients.discard(self.connection)

    def answer(self, name, *words):
        if name == b"GET":
            self.server.gets += 1
            value = self.server.values.get(words[0])
            return b"$-1\r\n" if value is None else b"$%d\r\n%s\r\n" % (len(value), value)
        if name == b"SET":
            self.server.values[words[0]] = words[1]
        return b"+PONG\r\n" if name == b"PING" else b"+OK\r\n"


class FakeRedis(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, port=0, values=None):
        super().__init__(("127.0.0.1", port), Handler)
        self.values, self.gets, self.clients = values if values is not None else {}, 0, set()
        self.port = self.server_address[1]
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self):
        """Closes the port and all connections, as the end of the process does."""
        self.shutdown()
        self.server_close()
        for client in list(self.clients):
            try:
                client.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
