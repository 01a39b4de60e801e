#include "server/net/listener.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <ctime>
#include <thread>

#include "server/core/eventually.h"
#include "server/net/test_support.h"
#include "server/net/tls_files.h"
#include "server/observe/metrics_text.h"

namespace tern::server {
namespace {

using namespace std::chrono_literals;

// Sends back all bytes that it receives. Closes after "quit".
class Echo : public Connection, public Watcher {
 public:
  Echo(Loop& loop, std::unique_ptr<Stream> stream, std::function<void()> done)
      : loop_(loop), stream_(std::move(stream)), done_(std::move(done)) {
    EXPECT_TRUE(loop_.Add(stream_->fd(), this, true, false).ok());
  }
  ~Echo() override { loop_.Remove(stream_->fd(), this); }
  void Drain() override { Finish(); }
  void OnEvents(bool, bool, bool) override {
    char data[5000];
    size_t got = 0;
    Stream::Outcome outcome;
    while ((outcome = stream_->Read(data, sizeof data, got)) == Stream::Outcome::kDone) {
      pending_.append(data, got);
      if (pending_.find("protocol") != pending_.npos) pending_ = stream_->Protocol() + "|" + stream_->Peer();
      if (pending_.find("certificate") != pending_.npos) {
        const auto certificate = stream_->Certificate();
        pending_ = (certificate ? certificate->subject : "none") + "|";
        if (certificate) pending_ += Join(certificate->names, ",");
      }
    }
    Flush();
    if (outcome == Stream::Outcome::kClosed || quit_) Finish();
  }

 private:
  void Flush() {
    size_t sent = 0;
    while (!pending_.empty()) {
      const size_t half = pending_.size() / 2;
      const iovec parts[] = {
          {pending_.data(), half}, {nullptr, 0}, {pending_.data() + half, pending_.size() - half}};
      if (stream_->Write(parts, 3, sent) != Stream::Outcome::kDone) break;
      quit_ |= pending_.starts_with("quit");
      pending_.erase(0, sent);
    }
    loop_.Change(stream_->fd(), this, true, !pending_.empty() || stream_->wants_write());
  }
  void Finish() {
    if (done_) stream_->ShutdownWrite();
    if (auto done = std::exchange(done_, nullptr)) done();
  }
  Loop& loop_;
  std::unique_ptr<Stream> stream_;
  std::function<void()> done_;
  std::string pending_;
  bool quit_ = false;
};

ConnectionFactory EchoFactory() {
  return [](Loop& loop, std::unique_ptr<Stream> stream, std::function<void()> done) {
    return std::make_shared<Echo>(loop, std::move(stream), std::move(done));
  };
}

class ListenerTest : public testing::Test {
 protected:
  void Start(ListenOptions options = {}) {
    if (options.address == "0.0.0.0") options.address = "127.0.0.1";
    auto listener = Listener::Start(*loops_, options, EchoFactory());
    ASSERT_TRUE(listener.ok()) << listener.status().ToString();
    listener_ = std::move(*listener);
  }
  std::unique_ptr<Loops> loops_ = std::move(*Loops::Start(2));
  std::unique_ptr<Listener> listener_;
};

TEST_F(ListenerTest, Echoes) {
  Start();
  EXPECT_GT(listener_->port(), 0);
  for (int i = 0; i < 20; ++i) {
    TestClient client(listener_->port());
    ASSERT_TRUE(client.Send("hello"));
    EXPECT_EQ(client.ReadExactly(5), "hello");
  }
}

TEST_F(ListenerTest, EchoesMuchWithBackPressure) {
  Start();
  TestClient client(listener_->port());
  std::string text;
  for (int i = 0; i < 1'000'000; ++i) text += std::to_string(i);
  std::thread sender([&] { EXPECT_TRUE(client.Send(text)); });
  EXPECT_TRUE(client.ReadExactly(text.size()) == text);
  sender.join();
}

TEST_F(ListenerTest, KnowsPeer) {
  Start();
  TestClient client(listener_->port());
  client.Send("protocol");
  EXPECT_EQ(client.Read().rfind("|127.0.0.1:", 0), 0u);
}

TEST_F(ListenerTest, ConnectionEndsAtClose) {
  Start();
  {
    TestClient client(listener_->port());
    client.Send("quit");
    EXPECT_EQ(client.ReadAll(), "quit");
  }
  for (int i = 0; i < 500 && listener_->connections(); ++i) std::this_thread::sleep_for(2ms);
  EXPECT_EQ(listener_->connections(), 0u);
}

TEST_F(ListenerTest, LimitsConnections) {
  ListenOptions options;
  options.connections = 2;
  Start(options);
  TestClient a(listener_->port()), b(listener_->port());
  for (TestClient* client : {&a, &b}) {
    client->Send("x");
    EXPECT_EQ(client->ReadExactly(1), "x");
  }
  TestClient c(listener_->port());
  EXPECT_EQ(c.Read(), "");
  EXPECT_TRUE(Eventually([&] { return listener_->connections() == 2; }));
  a.Close();
  EXPECT_TRUE(Eventually([&] { return listener_->connections() == 1; }));
  TestClient d(listener_->port());
  d.Send("y");
  EXPECT_EQ(d.ReadExactly(1), "y");
}

TEST_F(ListenerTest, DrainStopsAcceptingAndWaits) {
  Start();
  TestClient client(listener_->port());
  client.Send("x");
  EXPECT_EQ(client.ReadExactly(1), "x");
  listener_->Drain(5s);
  EXPECT_EQ(listener_->connections(), 0u);
  EXPECT_EQ(client.Read(), "");
  EXPECT_FALSE(TestClient(listener_->port()).connected());
  listener_->Drain(1s);
}

TEST_F(ListenerTest, DestructionClosesConnections) {
  Start();
  TestClient client(listener_->port());
  client.Send("x");
  EXPECT_EQ(client.ReadExactly(1), "x");
  listener_.reset();
  EXPECT_EQ(client.Read(), "");
}

TEST_F(ListenerTest, UnixSocketIsRemovedAndReplaced) {
  const std::string path = testing::TempDir() + "tern_listener_" + std::to_string(getpid()) + ".sock";
  ListenOptions options;
  options.address = "unix:" + path;
  Start(options);
  EXPECT_EQ(Listener::Start(*loops_, options, EchoFactory()).status().code(), Code::kUnavailable);
  TestClient client(path);
  client.Send("protocol");
  EXPECT_EQ(client.Read(), "|unix");
  listener_.reset();
  EXPECT_FALSE(std::filesystem::exists(path));
  // Leaves a socket file, as a server that was killed does.
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  close(fd);
  Start(options);
  options.address = "unix:" + std::string(200, 'x');
  EXPECT_EQ(Listener::Start(*loops_, options, EchoFactory()).status().code(), Code::kInvalidArgument);
}

TEST_F(ListenerTest, BadAddressesFail) {
  Start();
  ListenOptions options;
  options.address = "127.0.0.1";
  options.port = listener_->port();
  EXPECT_EQ(Listener::Start(*loops_, options, EchoFactory()).status().code(), Code::kUnavailable);
  options.port = 70000;
  EXPECT_EQ(Listener::Start(*loops_, options, EchoFactory()).status().code(), Code::kInvalidArgument);
  options.port = 0;
  options.address = "300.1.2.3.nowhere.invalid";
  EXPECT_EQ(Listener::Start(*loops_, options, EchoFactory()).status().code(), Code::kInvalidArgument);
}

// Lowers the number of descriptors that this process may have.
class FewDescriptors {
 public:
  explicit FewDescriptors(rlim_t count) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit lower{count, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &lower);
  }
  ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_;
};

TEST_F(ListenerTest, WaitsForDescriptorsWithoutSpinning) {
  Start({});
  TestClient client(listener_->port());
  client.Send("a");
  ASSERT_EQ(client.ReadExactly(1), "a");
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  socklen_t size = sizeof address;
  getpeername(client.fd(), reinterpret_cast<sockaddr*>(&address), &size);
  {
    const FewDescriptors few(1);
    ASSERT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
    const std::clock_t begin = std::clock();
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    EXPECT_LT(std::clock() - begin, CLOCKS_PER_SEC / 5);
    client.Send("b");  // connections that are open are served
    EXPECT_EQ(client.ReadExactly(1), "b");
  }
  const timeval limit{5, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  char got = 0;
  EXPECT_EQ(send(fd, "c", 1, MSG_NOSIGNAL), 1);
  EXPECT_EQ(recv(fd, &got, 1, 0), 1);
  EXPECT_EQ(got, 'c');
  close(fd);
}

class TlsTest : public ListenerTest {
 protected:
  ListenOptions Options() {
    ListenOptions options;
    options.tls.certificate = files_.Path("server.pem");
    options.tls.key = files_.Path("server.key");
    options.alpn = "h2,http/1.1";
    return options;
  }
  TestCertificates files_;
};

TEST_F(TlsTest, EchoesAndSelectsTheProtocol) {
  Start(Options());
  TestClient client(listener_->port());
  TestTls tls(client, files_, false, "http/1.1");
  ASSERT_TRUE(tls.connected());
  EXPECT_EQ(tls.Protocol(), "http/1.1");
  ASSERT_TRUE(tls.Send("protocol"));
  EXPECT_EQ(tls.Read().rfind("http/1.1|127.0.0.1:", 0), 0u);
  std::string text(3'000'000, 'x');
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i % 25);
  for (size_t at = 0; at < text.size(); at += 30'000) {
    ASSERT_TRUE(tls.Send(text.substr(at, 30'000)));
    ASSERT_EQ(tls.ReadExactly(30'000), text.substr(at, 30'000));
  }
}

TEST_F(TlsTest, RefusesOldVersionsAndUnknownProtocols) {
  Start(Options());
  TestClient a(listener_->port()), b(listener_->port()), c(listener_->port());
  EXPECT_FALSE(TestTls(a, files_, false, "", TLS1_1_VERSION).connected());
  EXPECT_FALSE(TestTls(b, files_, false, "spdy").connected());
  EXPECT_TRUE(TestTls(c, files_, false, "", TLS1_2_VERSION).connected());
  TestClient d(listener_->port());
  EXPECT_FALSE(TestTls(d, files_, false, "", TLS1_2_VERSION, "ECDHE-ECDSA-AES128-SHA256").connected());
  TestClient plain(listener_->port());
  plain.Send("GET / HTTP/1.1\r\n\r\n");
  plain.ReadAll();
}

TEST_F(TlsTest, MutualTlsDemandsACertificate) {
  ListenOptions options = Options();
  options.tls.client_ca = files_.Path("ca.pem");
  Start(options);
  TestClient a(listener_->port()), b(listener_->port());
  TestTls with(a, files_, true), without(b, files_, false);
  ASSERT_TRUE(with.connected());
  with.Send("abc");
  EXPECT_EQ(with.ReadExactly(3), "abc");
  // With TLS 1.3, the client's handshake succeeds before the server refuses the missing certificate.
  without.Send("abc");
  EXPECT_EQ(without.ReadExactly(3), "");
}

TEST_F(TlsTest, ClientCertificatesAreReadAndMayBeOptional) {
  ListenOptions options = Options();
  options.tls.client_ca = files_.Path("ca.pem");
  options.tls.client_optional = true;
  Start(options);
  TestClient a(listener_->port()), b(listener_->port());
  TestTls with(a, files_, true), without(b, files_, false);
  ASSERT_TRUE(with.connected());
  with.Send("certificate");
  EXPECT_EQ(with.Read(), "CN=client|DNS:client.example,IP:10.0.0.7,URI:spiffe://example/client");
  without.Send("certificate");
  EXPECT_EQ(without.Read(), "none|");
}

TEST_F(TlsTest, NewConnectionsUseNewFiles) {
  ListenOptions options = Options();
  options.tls.files = std::move(*TlsFiles::Open(options.tls));
  Start(options);
  TestClient a(listener_->port());
  TestTls first(a, files_);
  ASSERT_TRUE(first.connected());
  const long serial = first.PeerSerial();
  // Only the certificate is new: the old pair stays.
  files_.RenewCertificate(3600 * 2);
  for (int i = 0; i < 3; ++i) options.tls.files->Reload();
  TestClient b(listener_->port());
  TestTls second(b, files_);
  ASSERT_TRUE(second.connected());
  EXPECT_EQ(second.PeerSerial(), serial);
  EXPECT_LT(options.tls.files->expires() - std::chrono::system_clock::now(), std::chrono::hours(1));
  files_.FinishRenewal();
  options.tls.files->Reload();
  TestClient c(listener_->port());
  TestTls third(c, files_);
  ASSERT_TRUE(third.connected());
  EXPECT_NE(third.PeerSerial(), serial);
  EXPECT_GT(options.tls.files->expires() - std::chrono::system_clock::now(), std::chrono::minutes(110));
  // Old connections go on.
  first.Send("still here");
  EXPECT_EQ(first.ReadExactly(10), "still here");
  // An unreadable file keeps the pair, too.
  std::filesystem::remove(files_.Path("server.key"));
  for (int i = 0; i < 3; ++i) options.tls.files->Reload();
  TestClient d(listener_->port());
  TestTls fourth(d, files_);
  ASSERT_TRUE(fourth.connected());
  EXPECT_EQ(fourth.PeerSerial(), third.PeerSerial());
  MetricsText text;
  options.tls.files->AppendMetrics(text);
  const std::string all = text.Take();
  EXPECT_NE(all.find("tern_tls_reloads_total{result=\"success\"} 1\n"), std::string::npos) << all;
  EXPECT_NE(all.find("tern_tls_reloads_total{result=\"failure\"} 2\n"), std::string::npos) << all;
}

TEST_F(TlsTest, CertificatesMayExpireOutsideTheTimesOfTheClock) {
  using Time = std::chrono::system_clock::time_point;
  ListenOptions options = Options();
  options.tls.files = std::move(*TlsFiles::Open(options.tls));
  Start(options);
  constexpr long kYear = 31'556'952;
  const std::pair<long, Time> cases[] = {{7000 * kYear, Time::max()}, {-100 * kYear, Time()}};
  for (const auto& [seconds, expected] : cases) {
    files_.RenewCertificate(seconds);
    files_.FinishRenewal();
    options.tls.files->Reload();
    EXPECT_EQ(options.tls.files->expires(), expected) << seconds;
  }
}

TEST_F(TlsTest, BadFilesFail) {
  for (int i = 0; i < 4; ++i) {
    ListenOptions options = Options();
    options.address = "127.0.0.1";
    if (i == 0) options.tls.certificate = "/nowhere.pem";
    if (i == 1) options.tls.key = files_.Path("server.pem");
    if (i == 2) options.tls.key = files_.Path("client.key");
    if (i == 3) options.alpn = "h2,,x";
    EXPECT_EQ(Listener::Start(*loops_, options, EchoFactory()).status().code(), Code::kInvalidArgument) << i;
  }
}

}  // namespace
}  // namespace tern::server
