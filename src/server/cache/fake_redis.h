// A small Redis for tests. It knows PING, AUTH, SELECT, GET and SET. Tests can make it slow, silent or
// absent, or let it answer with bytes that are not RESP.
#pragma once
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tern::server {

class FakeRedis {
 public:
  FakeRedis() { Start(0); }
  ~FakeRedis() { Stop(); }

  // Starts again on the same port after Stop.
  void Start(int port) {
    listen_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int one = 1;
    setsockopt(listen_, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ASSERT_EQ(bind(listen_, reinterpret_cast<sockaddr*>(&address), size), 0);
    ASSERT_EQ(listen(listen_, 16), 0);
    getsockname(listen_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    stop_ = false;
    thread_ = std::thread([this] { Run(); });
  }
  // Closes the port and all connections.
  void Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  int port() const { return port_; }
  size_t entries() {
    const std::lock_guard lock(mutex_);
    return values_.size();
  }
  void Damage() {  // all entries
    const std::lock_guard lock(mutex_);
    for (auto& [key, value] : values_) value = "damaged";
  }
  std::string password() const {
    const std::lock_guard lock(mutex_);
    return password_;
  }
  void RequirePassword(std::string password) {
    const std::lock_guard lock(mutex_);
    password_ = std::move(password);
  }

  std::atomic<int> delay_ms{0};        // before each answer to GET
  std::atomic<bool> silent{false};     // reads commands and does not answer
  std::atomic<bool> nonsense{false};   // answers GET with bytes that are not RESP
  std::atomic<bool> read_only{false};  // answers SET with an error
  std::atomic<int> gets{0}, sets{0}, accepted{0};

 private:
  struct Client {
    int fd = -1;
    std::string in;
    bool authenticated = false;
  };

  void Run() {
    std::vector<Client> clients;
    while (!stop_) {
      std::vector<pollfd> polled{{listen_, POLLIN, 0}};
      for (const Client& client : clients) polled.push_back({client.fd, POLLIN, 0});
      poll(polled.data(), polled.size(), 2);
      for (size_t i = 0; i < clients.size(); ++i)
        if (polled[i + 1].revents && !Serve(clients[i])) {
          close(clients[i].fd);
          clients[i].fd = -1;
        }
      std::erase_if(clients, [](const Client& client) { return client.fd < 0; });
      if (!polled[0].revents) continue;
      clients.push_back({accept(listen_, nullptr, nullptr), "", password().empty()});
      ++accepted;
    }
    for (const Client& client : clients) close(client.fd);
    close(listen_);
  }

  bool Serve(Client& client) {
    char block[65536];
    const ssize_t got = recv(client.fd, block, sizeof block, 0);
    if (got <= 0) return false;
    client.in.append(block, static_cast<size_t>(got));
    std::vector<std::string> words;
    while (Take(client.in, words)) {
      const std::string answer = Answer(client, words);
      if (silent) continue;
      if (send(client.fd, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) return false;
    }
    return true;
  }

  // Removes one command from the front.
  static bool Take(std::string& in, std::vector<std::string>& words) {
    words.clear();
    size_t at = in.find("\r\n");
    if (at == std::string::npos) return false;
    const int count = std::stoi(in.substr(1));
    at += 2;
    for (int i = 0; i < count; ++i) {
      const size_t end = in.find("\r\n", at);
      if (end == std::string::npos) return false;
      const size_t size = std::stoul(in.substr(at + 1));
      if (in.size() < end + 2 + size + 2) return false;
      words.push_back(in.substr(end + 2, size));
      at = end + 2 + size + 2;
    }
    in.erase(0, at);
    return true;
  }

  std::string Answer(Client& client, const std::vector<std::string>& words) {
    const std::string& name = words[0];
    if (name == "AUTH") {
      client.authenticated = words.back() == password();
      return client.authenticated ? "+OK\r\n" : "-WRONGPASS invalid password\r\n";
    }
    if (!client.authenticated) return "-NOAUTH Authentication required.\r\n";
    if (name == "PING") return "+PONG\r\n";
    if (name == "GET") return Get(words[1]);
    if (name == "SET") {
      ++sets;
      if (read_only) return "-READONLY You can't write against a read only replica.\r\n";
      const std::lock_guard lock(mutex_);
      values_[words[1]] = words[2];
    }
    return "+OK\r\n";
  }

  std::string Get(const std::string& key) {
    ++gets;
    if (delay_ms > 0) std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    if (nonsense) return "HTTP/1.1 200 OK\r\n\r\n";
    const std::lock_guard lock(mutex_);
    const auto found = values_.find(key);
    if (found == values_.end()) return "$-1\r\n";
    return "$" + std::to_string(found->second.size()) + "\r\n" + found->second + "\r\n";
  }

  int listen_ = -1, port_ = 0;
  std::atomic<bool> stop_{false};
  std::string password_;
  mutable std::mutex mutex_;
  std::map<std::string, std::string> values_;
  std::thread thread_;
};

}  // namespace tern::server
