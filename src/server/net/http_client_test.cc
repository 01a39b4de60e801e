#include "server/net/http_client.h"

#include <atomic>

#include "server/net/fake_http_server.h"
#include "server/net/test_support.h"

namespace tern::server {
namespace {

using namespace std::chrono_literals;

std::unique_ptr<HttpClient> Client(HttpClientOptions options = {}) {
  auto client = HttpClient::Create(options);
  EXPECT_TRUE(client.ok()) << client.status().ToString();
  return std::move(*client);
}

Result<HttpAnswer> Get(HttpClient& client, const std::string& url, HttpRequest request = {}) {
  const auto place = ParseUrl(url, 0);
  if (!place.ok()) return place.status();
  return client.Send(*place, request, {});
}

TEST(Url, HasASchemeAndAPort) {
  EXPECT_EQ(ParseUrl("https://h/p", 0)->port, 443);
  EXPECT_TRUE(ParseUrl("https://h/p", 0)->tls);
  EXPECT_EQ(ParseUrl("h", 0)->port, 80);
  EXPECT_EQ(ParseUrl("http://h?x=1", 0)->path, "/?x=1");
  EXPECT_EQ(HostField(*ParseUrl("https://h:443/", 0)), "h");
  EXPECT_EQ(HostField(*ParseUrl("http://[::1]:8000", 0)), "[::1]:8000");
  EXPECT_EQ(PlaceOf(*ParseUrl("http://h:81/x", 0)), "http://h:81");
  for (const char* bad : {"http://user@h/", "http://h#x/", "http://h\\x/", "http://h/\x01", "ftp://h"})
    EXPECT_FALSE(ParseUrl(bad, 0).ok()) << bad;
  EXPECT_EQ(PercentEncode("a b/ü~"), "a%20b%2F%C3%BC~");
  EXPECT_EQ(PercentEncode("a/b", true), "a/b");
}

TEST(HttpClient, KeepsConnectionsOpen) {
  FakeHttpServer server([](const std::string&) { return Answer(200, "body", "X-Name:  value \r\n"); });
  const auto client = Client();
  for (int i = 0; i < 3; ++i) {
    const auto answer = Get(*client, server.url() + "/path?q=1");
    ASSERT_TRUE(answer.ok()) << answer.status().ToString();
    EXPECT_EQ(answer->body, "body");
    EXPECT_EQ(*answer->Find("x-name"), "value");
    EXPECT_EQ(answer->Find("absent"), nullptr);
  }
  EXPECT_EQ(server.connections(), 1u);
  EXPECT_TRUE(StartsWith(server.requests()[0], "GET /path?q=1 HTTP/1.1\r\nHost: 127.0.0.1:"));
}

TEST(HttpClient, SendsAgainWhenAnIdleConnectionHasEnded) {
  std::atomic<int> count = 0;
  FakeHttpServer server(
      [&](const std::string&) { return ++count == 2 ? "close:" : Answer(200, std::to_string(count)); });
  const auto client = Client();
  EXPECT_EQ(Get(*client, server.url())->body, "1");
  EXPECT_EQ(Get(*client, server.url())->body, "3");
  // A POST might be executed twice.
  HttpRequest post;
  post.method = "POST";
  post.body = "x";
  count = 1;
  EXPECT_EQ(Get(*client, server.url(), post).status().code(), Code::kIo);
}

TEST(HttpClient, ReadsAllForms) {
  const std::pair<const char*, const char*> forms[] = {
      {"close:HTTP/1.1 200 OK\r\n\r\nuntil close", "until close"},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\nT: x\r\n\r\n",
       "abcdefg"},
      {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "hi"},
      {"close:HTTP/1.0 404 Not Found\r\nContent-Length: 3\r\n\r\nnot", "not"},
      {"HTTP/1.1 204 No Content\r\n\r\n", ""},
  };
  for (const auto& [text, body] : forms) {
    FakeHttpServer server([text = std::string(text)](const std::string&) { return text; });
    const auto answer = Get(*Client(), server.url());
    ASSERT_TRUE(answer.ok()) << text << answer.status().ToString();
    EXPECT_EQ(answer->body, body);
  }
}

TEST(HttpClient, RefusesWhatIsNotHttp) {
  for (const char* text :
       {"SSH-2.0-OpenSSH\r\n", "HTTP/2 200 OK\r\n\r\n", "HTTP/1.1 99 X\r\n\r\n",
        "HTTP/1.1 200 OK\r\nNo colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort", "HTTP/1.1 101 Switching\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: b\r\n folded\r\n\r\n"}) {
    FakeHttpServer server([&](const std::string&) { return std::string("close:") + text; });
    EXPECT_EQ(Get(*Client(), server.url()).status().code(), Code::kIo) << text;
  }
}

TEST(HttpClient, LimitsAnswers) {
  FakeHttpServer server([](const std::string& request) {
    if (request.find("/head") != std::string::npos)
      return "HTTP/1.1 200 OK\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n";
    if (request.find("/chunks") != std::string::npos)
      return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n400\r\n" + std::string(1024, 'x') +
             "\r\n0\r\n\r\n";
    return Answer(200, std::string(1024, 'x'));
  });
  HttpRequest request;
  request.max_body_bytes = 1023;
  const auto client = Client();
  EXPECT_EQ(Get(*client, server.url() + "/head").status().code(), Code::kIo);
  for (const char* path : {"/chunks", "/length"}) {
    EXPECT_EQ(Get(*client, server.url() + path, request).status().code(), Code::kResourceExhausted) << path;
    EXPECT_TRUE(Get(*client, server.url() + path).ok()) << path;
  }
}

TEST(HttpClient, StopsAndTimesOut) {
  FakeHttpServer server([](const std::string&) { return std::string(); });  // never answers
  HttpClientOptions options;
  options.idle_limit = 100ms;
  const auto url = ParseUrl(server.url(), 0);
  EXPECT_EQ(Client(options)->Send(*url, {}, {}).status().code(), Code::kIo);
  std::atomic<bool> cancel{false};
  std::thread later([&] {
    std::this_thread::sleep_for(50ms);
    cancel = true;
  });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(Client()->Send(*url, {}, {&cancel}).status().code(), Code::kCancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  later.join();
  EXPECT_EQ(Get(*Client(), "http://127.0.0.1:1").status().code(), Code::kIo);
  EXPECT_EQ(Get(*Client(), "http://name.invalid").status().code(), Code::kIo);
}

TEST(HttpClient, FollowsRedirectsWhereSafe) {
  FakeHttpServer other([](const std::string&) { return Answer(200, "other"); });
  FakeHttpServer server([&](const std::string& request) {
    if (StartsWith(request, "GET /far")) return Answer(302, "", "Location: " + other.url() + "/x#part\r\n");
    if (StartsWith(request, "GET /near")) return Answer(307, "", "Location: /end\r\n");
    if (StartsWith(request, "GET /loop")) return Answer(302, "", "Location: /loop\r\n");
    if (StartsWith(request, "GET /file")) return Answer(302, "", "Location: file:///etc/passwd\r\n");
    return Answer(200, "here");
  });
  HttpRequest request;
  request.redirects = 3;
  request.fields = {{"Authorization", "secret"}, {"Accept", "x"}};
  const auto client = Client();
  EXPECT_EQ(Get(*client, server.url() + "/near", request)->body, "here");
  EXPECT_EQ(Get(*client, server.url() + "/far", request)->body, "other");
  EXPECT_EQ(other.requests()[0].find("secret"), std::string::npos);
  EXPECT_NE(other.requests()[0].find("GET /x HTTP"), std::string::npos);
  EXPECT_EQ(Get(*client, server.url() + "/loop", request)->status, 302);
  EXPECT_EQ(Get(*client, server.url() + "/far")->status, 302);  // the caller allows none
  EXPECT_EQ(Get(*client, server.url() + "/file", request).status().code(), Code::kInvalidArgument);
}

// The limit of a file that is fetched is no limit of the text that says why it is not.
TEST(HttpClient, ErrorsMayBeLongerThanTheContent) {
  FakeHttpServer server([](const std::string&) { return Answer(503, std::string(1000, 'e')); });
  HttpRequest request;
  request.max_body_bytes = 10;
  request.sink = [](const HttpAnswer&, std::string_view) { return Status(); };
  const auto answer = Get(*Client(), server.url(), request);
  ASSERT_TRUE(answer.ok()) << answer.status().ToString();  // and is sent again
  EXPECT_EQ(answer->status, 503);
  EXPECT_EQ(answer->body.size(), 1000u);
}

TEST(HttpClient, StreamsToASink) {
  FakeHttpServer server([](const std::string& request) {
    return StartsWith(request, "GET /no") ? Answer(403, "denied") : Answer(200, std::string(300'000, 'x'));
  });
  size_t bytes = 0;
  HttpRequest request;
  request.sink = [&](const HttpAnswer&, std::string_view piece) {
    bytes += piece.size();
    return bytes > 400'000 ? ResourceExhausted("full") : Status();
  };
  const auto client = Client();
  const auto answer = Get(*client, server.url(), request);
  ASSERT_TRUE(answer.ok());
  EXPECT_TRUE(answer->body.empty());
  EXPECT_EQ(bytes, 300'000u);
  EXPECT_EQ(Get(*client, server.url() + "/no", request)->body, "denied");
  EXPECT_EQ(Get(*client, server.url(), request).status().message(), "full");
}

TEST(HttpClient, VerifiesCertificates) {
  const TestCertificates files;
  FakeHttpServer server([](const std::string&) { return Answer(200, "safe"); }, files.Path("server.pem"),
                        files.Path("server.key"));
  HttpClientOptions options;
  options.authorities = files.Path("ca.pem");
  const auto client = Client(options);
  for (int i = 0; i < 2; ++i) {
    const auto answer = Get(*client, server.url());
    ASSERT_TRUE(answer.ok()) << answer.status().ToString();
    EXPECT_EQ(answer->body, "safe");
  }
  EXPECT_EQ(server.connections(), 1u);
  // The authorities of the system do not know this certificate.
  const Status unknown = Get(*Client(), server.url()).status();
  EXPECT_EQ(unknown.code(), Code::kInvalidArgument);
  EXPECT_NE(unknown.message().find("is not accepted"), std::string::npos) << unknown.message();
  // The certificate of a client has no name of a host.
  FakeHttpServer wrong([](const std::string&) { return Answer(200, "x"); }, files.Path("client.pem"),
                       files.Path("client.key"));
  EXPECT_EQ(Get(*client, wrong.url()).status().code(), Code::kInvalidArgument);
  // A server without TLS.
  FakeHttpServer plain([](const std::string&) { return Answer(200, "x"); });
  options.idle_limit = options.connect_limit = 200ms;
  EXPECT_EQ(Get(*Client(options), StrCat("https://127.0.0.1:", plain.port())).status().code(), Code::kIo);
  options.authorities = files.Path("missing.pem");
  EXPECT_FALSE(HttpClient::Create(options).ok());
}

}  // namespace
}  // namespace tern::server
