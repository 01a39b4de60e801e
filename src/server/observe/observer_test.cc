#include "server/observe/observer.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "server/net/http_client.h"

namespace tern::server {
namespace {

using namespace std::chrono_literals;

// Accepts one connection, stores the bytes that it receives, and answers with `reply`.
class OneShotServer {
 public:
  explicit OneShotServer(std::string reply) {
    fd_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof a;
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&a), sizeof a), 0);
    EXPECT_EQ(listen(fd_, 1), 0);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&a), &size);
    port_ = ntohs(a.sin_port);
    thread_ = std::thread([this, reply] { Serve(reply); });
  }
  std::string Received() {
    if (thread_.joinable()) thread_.join();
    return received_;
  }
  ~OneShotServer() {
    Received();
    close(fd_);
  }
  int port() const { return port_; }

 private:
  void Serve(const std::string& reply) {
    const int client = accept(fd_, nullptr, nullptr);
    char block[4096];
    for (;;) {
      const ssize_t n = recv(client, block, sizeof block, 0);
      if (n <= 0) break;
      received_.append(block, static_cast<size_t>(n));
      const size_t head = received_.find("\r\n\r\n");
      if (head == std::string::npos) continue;
      const size_t at = received_.find("Content-Length: ");
      const size_t body = at == std::string::npos ? 0 : std::stoul(received_.substr(at + 16));
      if (received_.size() >= head + 4 + body) break;
    }
    EXPECT_GT(send(client, reply.data(), reply.size(), 0), 0);
    close(client);
  }
  int fd_ = -1, port_ = 0;
  std::string received_;
  std::thread thread_;
};

AccessRecord Inference(const CallTimes& times) {
  AccessRecord record;
  record.protocol = "http";
  record.method = "POST";
  record.target = "/v2/models/m/infer";
  record.model = "m";
  record.version = "1";
  record.status = 200;
  record.duration = 1ms;
  record.times = &times;
  return record;
}

std::string TemporaryFile() {
  std::string path = "/tmp/tern_observer_XXXXXX";
  close(mkstemp(path.data()));
  return path;
}

std::string Contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Observer, MetricsOfAnEmptyServer) {
  const Registry models;
  auto observer = Observer::Create({}, models);
  ASSERT_TRUE(observer.ok());
  (*observer)->AddConnections("http", [] { return size_t{3}; });
  EXPECT_FALSE((*observer)->wants_access_log());
  const std::string text = (*observer)->PrometheusText();
  for (const char* part :
       {"\nnv_cpu_utilization ", "\nnv_cpu_memory_total_bytes ", "\nnv_cpu_memory_used_bytes ",
        "\nprocess_resident_memory_bytes ", "\ntern_connections{protocol=\"http\"} 3\n",
        "\ntern_access_log_dropped_total 0\n"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
  EXPECT_EQ(text.back(), '\n');
}

TEST(Observer, WritesTheAccessLog) {
  const std::string path = TemporaryFile();
  const Registry models;
  {
    auto observer = Observer::Create({.access_log = path}, models);
    ASSERT_TRUE(observer.ok());
    EXPECT_TRUE((*observer)->wants_access_log());
    const CallTimes times{};
    for (int i = 0; i < 100; ++i) (*observer)->OnRequest(Inference(times));
  }
  const std::string text = Contents(path);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 100);
  unlink(path.c_str());
}

TEST(Observer, RefusesALogThatCannotBeOpened) {
  const Registry models;
  EXPECT_FALSE(Observer::Create({.access_log = "/nonexistent/x"}, models).ok());
  EXPECT_FALSE(Observer::Create({.trace_endpoint = "ftp://x"}, models).ok());
}

TEST(Observer, SendsSpansToTheCollector) {
  OneShotServer collector("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
  const Registry models;
  {
    ObserveOptions options;
    options.trace_endpoint = StrCat("http://127.0.0.1:", collector.port(), "/v1/traces");
    options.trace.level = {"TIMESTAMPS"};
    options.trace.rate = 1;
    auto observer = Observer::Create(options, models);
    ASSERT_TRUE(observer.ok());
    EXPECT_TRUE((*observer)->wants_access_log());
    const Clock::time_point t = Clock::now() - 1ms;
    const CallTimes times{t, t, t, t, t, t};
    (*observer)->OnRequest(Inference(times));
  }
  const std::string request = collector.Received();
  EXPECT_TRUE(StartsWith(request, "POST /v1/traces HTTP/1.1\r\n")) << request;
  EXPECT_NE(request.find("\"name\":\"infer m\""), std::string::npos) << request;
  EXPECT_NE(request.find("\"name\":\"queue\""), std::string::npos) << request;
}

TEST(Observer, TraceFileIsAnArray) {
  const std::string path = TemporaryFile();
  const Registry models;
  {
    ObserveOptions options;
    options.trace.file = path;
    options.trace.level = {"TIMESTAMPS"};
    options.trace.rate = 1;
    auto observer = Observer::Create(options, models);
    ASSERT_TRUE(observer.ok());
    const CallTimes times{};
    (*observer)->OnRequest(Inference(times));
    (*observer)->OnRequest(Inference(times));
  }
  const std::string text = Contents(path);
  EXPECT_TRUE(StartsWith(text, "[{\"id\":1")) << text;
  EXPECT_NE(text.find("},{\"id\":2,"), std::string::npos) << text;
  EXPECT_TRUE(EndsWith(text, "]}]")) << text;
  unlink(path.c_str());
}

TEST(HttpPost, ParsesUrls) {
  const auto url = ParseUrl("http://[::1]:4318/v1/traces", 80);
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(url->host, "::1");
  EXPECT_EQ(url->port, 4318);
  EXPECT_EQ(url->path, "/v1/traces");
  EXPECT_EQ(ParseUrl("localhost", 8000)->port, 8000);
  for (const char* bad :
       {"", "http://", "http://h:0", "http://h:70000", "http://h:x", "h:8000/a b", "ws://h", "h\r\nX: 1"})
    EXPECT_FALSE(ParseUrl(bad, 80).ok()) << bad;
}

TEST(HttpPost, JoinsChunks) {
  OneShotServer server(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  const auto answer = Fetch({"127.0.0.1", server.port(), "/"}, "GET", "", "", 2000ms);
  ASSERT_TRUE(answer.ok()) << answer.status().ToString();
  EXPECT_EQ(answer->body, "abcde");
}

TEST(HttpPost, FailsWithoutAServerAndOnGarbage) {
  EXPECT_EQ(Fetch({"127.0.0.1", 1, "/"}, "GET", "", "", 500ms).status().code(), Code::kIo);
  OneShotServer server("nonsense");
  EXPECT_FALSE(Fetch({"127.0.0.1", server.port(), "/"}, "GET", "", "", 2000ms).ok());
}

}  // namespace
}  // namespace tern::server
