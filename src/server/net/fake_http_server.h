// For tests: an HTTP server that answers with bytes that the test chooses.
#pragma once
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tern::server {

class FakeHttpServer {
 public:
  // Gets the head and body of a request and returns the bytes of the answer. The connection stays open unless
  // the answer begins with "close:", which is not sent.
  using Handler = std::function<std::string(const std::string& request)>;

  // With a certificate and its key, the server speaks TLS.
  explicit FakeHttpServer(Handler handler, const std::string& certificate = "", const std::string& key = "")
      : handler_(std::move(handler)) {
    signal(SIGPIPE, SIG_IGN);
    if (!certificate.empty()) {
      tls_ = SSL_CTX_new(TLS_server_method());
      SSL_CTX_use_certificate_chain_file(tls_, certificate.c_str());
      SSL_CTX_use_PrivateKey_file(tls_, key.c_str(), SSL_FILETYPE_PEM);
    }
    listen_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(listen_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(listen_, 16), 0);
    getsockname(listen_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { Accept(); });
  }
  ~FakeHttpServer() {
    shutdown(listen_, SHUT_RDWR);
    acceptor_.join();
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (const int fd : fds_) shutdown(fd, SHUT_RDWR);
    }
    for (std::thread& thread : threads_) thread.join();
    for (const int fd : fds_) close(fd);
    close(listen_);
    SSL_CTX_free(tls_);
  }
  FakeHttpServer(const FakeHttpServer&) = delete;
  FakeHttpServer& operator=(const FakeHttpServer&) = delete;

  int port() const { return port_; }
  std::string url() const {
    return (tls_ ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port_);
  }
  std::vector<std::string> requests() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return requests_;
  }
  size_t connections() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return fds_.size();
  }

 private:
  void Accept() {
    for (int fd; (fd = accept4(listen_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
      const std::lock_guard<std::mutex> lock(mutex_);
      fds_.push_back(fd);
      threads_.emplace_back([this, fd] { Serve(fd); });
    }
  }

  void Serve(int fd) {
    SSL* ssl = nullptr;
    if (tls_) {
      ssl = SSL_new(tls_);
      SSL_set_fd(ssl, fd);
      if (SSL_accept(ssl) != 1) {
        SSL_free(ssl);
        shutdown(fd, SHUT_RDWR);
        return;
      }
    }
    std::string text;
    char block[4096];
    const auto read = [&] {
      const ssize_t got = ssl ? SSL_read(ssl, block, sizeof block) : recv(fd, block, sizeof block, 0);
      if (got > 0) text.append(block, static_cast<size_t>(got));
      return got > 0;
    };
    for (bool open = true; open;) {
      size_t end = 0;
      while ((end = text.find("\r\n\r\n")) == std::string::npos && (open = read())) {
      }
      if (!open) break;
      const size_t length = text.find("Content-Length: ");
      const size_t body = length < end ? std::stoul(text.substr(length + 16)) : 0;
      while (text.size() < end + 4 + body && (open = read())) {
      }
      const std::string request = text.substr(0, end + 4 + body);
      text.erase(0, request.size());
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        requests_.push_back(request);
      }
      std::string answer = handler_(request);
      open = answer.rfind("close:", 0) != 0;
      if (!open) answer.erase(0, 6);
      if (answer.empty()) continue;
      if (ssl)
        SSL_write(ssl, answer.data(), static_cast<int>(answer.size()));
      else
        send(fd, answer.data(), answer.size(), MSG_NOSIGNAL);
    }
    if (ssl) SSL_shutdown(ssl);
    SSL_free(ssl);
    shutdown(fd, SHUT_RDWR);
  }

  const Handler handler_;
  SSL_CTX* tls_ = nullptr;
  int listen_ = -1, port_ = 0;
  std::mutex mutex_;
  std::vector<int> fds_;
  std::vector<std::string> requests_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

// An answer with a length.
inline std::string Answer(int status, const std::string& body, const std::string& fields = "") {
  return "HTTP/1.1 " + std::to_string(status) + " Text\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n" + fields + "\r\n" + body;
}

}  // namespace tern::server
