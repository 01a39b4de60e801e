"""A server that only sends back what it receives. It shows the speed of the loopback interface."""

import multiprocessing
import socket
import threading
import time


def _receive(connection, view):
    got = 0
    while got < len(view):
        count = connection.recv_into(view[got:])
        if count == 0:
            return False
        got += count
    return True


def _serve(connection, size):
    view = memoryview(bytearray(size))
    while _receive(connection, view):
        connection.sendall(view)


def _server(listener, size):
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=_serve, args=(connection, size), daemon=True).start()


def _client(address, size, end, counts):
    view = memoryview(bytearray(size))
    with socket.create_connection(address) as connection:
        while time.monotonic() < end:
            connection.sendall(view)
            _receive(connection, view)
            counts.append(1)


def gb_per_s(size, seconds, connections=2):
    """Returns the rate at which the echo server receives data, in GB/s. The server sends at the same rate."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = multiprocessing.Process(target=_server, args=(listener, size), daemon=True)
        server.start()
        counts, begin = [], time.monotonic()
        threads = [threading.Thread(target=_client, args=(listener.getsockname(), size, begin + seconds, counts)) for _ in range(connections)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        server.kill()
        server.join()
        return len(counts) * size / (time.monotonic() - begin) / 1e9
