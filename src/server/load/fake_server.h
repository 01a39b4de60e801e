// For tests: an HTTP server with a thread per connection. A function of the test makes each reply. An empty
// reply closes the connection.
#pragma once
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tern::server::loadgen {

class FakeServer {
 public:
  using Reply = std::function<std::string(const std::string& request)>;
  explicit FakeServer(Reply reply) : reply_(std::move(reply)), fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof a;
    if (bind(fd_, reinterpret_cast<sockaddr*>(&a), sizeof a) == 0 && listen(fd_, 64) == 0)
      getsockname(fd_, reinterpret_cast<sockaddr*>(&a), &size);
    port_ = ntohs(a.sin_port);
    acceptor_ = std::thread([this] { Accept(); });
  }
  ~FakeServer() {
    shutdown(fd_, SHUT_RDWR);
    acceptor_.join();
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (const int client : clients_) shutdown(client, SHUT_RDWR);
    }
    for (std::thread& thread : threads_) thread.join();
    for (const int client : clients_) close(client);
    close(fd_);
  }
  int port() const { return port_; }
  int requests() const { return requests_; }

 private:
  void Accept() {
    for (;;) {
      const int client = accept(fd_, nullptr, nullptr);
      if (client < 0) return;
      const std::lock_guard<std::mutex> lock(mutex_);
      clients_.push_back(client);
      threads_.emplace_back([this, client] { Serve(client); });
    }
  }
  void Serve(int client) {
    std::string got;
    char block[65536];
    for (;;) {
      const ssize_t n = recv(client, block, sizeof block, 0);
      if (n <= 0) return;
      got.append(block, static_cast<size_t>(n));
      for (size_t size = 0; (size = Complete(got)) > 0; got.erase(0, size)) {
        ++requests_;
        const std::string out = reply_(got.substr(0, size));
        if (out.empty()) {
          shutdown(client, SHUT_RDWR);
          return;
        }
        if (send(client, out.data(), out.size(), MSG_NOSIGNAL) < 0) return;
      }
    }
  }
  // Returns the size of the first request, or 0 if the request is not complete.
  static size_t Complete(const std::string& got) {
    const size_t head = got.find("\r\n\r\n");
    if (head == std::string::npos) return 0;
    const size_t at = got.find("\r\nContent-Length: ");
    const size_t body = at < head ? std::stoul(got.substr(at + 18)) : 0;
    return got.size() >= head + 4 + body ? head + 4 + body : 0;
  }

  Reply reply_;
  int fd_, port_ = 0;
  std::atomic<int> requests_{0};
  std::mutex mutex_;
  std::vector<int> clients_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

inline std::string OkReply(const std::string& body) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace tern::server::loadgen
