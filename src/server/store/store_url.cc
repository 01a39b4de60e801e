#include "server/store/store_url.h"

#include <cstdlib>

#include "server/store/xml.h"

namespace tern::server {
namespace {

constexpr std::pair<const char*, StoreUrl::Kind> kSchemes[] = {{"s3://", StoreUrl::Kind::kS3},
                                                               {"gs://", StoreUrl::Kind::kGoogle},
                                                               {"https://", StoreUrl::Kind::kWeb},
                                                               {"http://", StoreUrl::Kind::kWeb},
                                                               {"file://", StoreUrl::Kind::kFolder}};

std::string TrimSlashes(std::string text) {
  while (!text.empty() && text.back() == '/') text.pop_back();
  while (!text.empty() && text.front() == '/') text.erase(0, 1);
  return text;
}

bool ValidBucket(const std::string& name) {
  bool valid = name.size() >= 3 && name.size() <= 222 && name[0] != '.' && name[0] != '-' &&
               name.find("..") == std::string::npos;
  for (const char c : name)
    valid &= (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
             c == '.' || c == '_';
  return valid;
}

// Takes "https://HOST:PORT/" from the front of s3://https://HOST:PORT/BUCKET, as Triton writes it.
Status TakeEndpoint(std::string& rest, StoreUrl& url) {
  const bool tls = StartsWith(rest, "https://");
  if (!tls && !StartsWith(rest, "http://")) return {};
  const size_t end = rest.find('/', tls ? 8 : 7);
  if (end == std::string::npos) return InvalidArgument("'", url.text, "' names no bucket after the endpoint");
  url.endpoint = rest.substr(0, end);
  rest.erase(0, end + 1);
  return ParseUrl(url.endpoint, 0).status();
}

}  // namespace

bool IsStoreUrl(const std::string& repository) {
  for (const auto& [scheme, kind] : kSchemes)
    if (StartsWith(repository, scheme)) return true;
  return false;
}

Result<StoreUrl> ParseStoreUrl(const std::string& text) {
  StoreUrl url;
  url.text = text;
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 32 || c == 127)
      return InvalidArgument("a repository's URL contains a control character");
  std::string rest;
  for (const auto& [scheme, kind] : kSchemes)
    if (StartsWith(text, scheme)) {
      url.kind = kind;
      rest = text.substr(std::string_view(scheme).size());
      break;
    }
  if (url.kind == StoreUrl::Kind::kWeb) {
    TERN_TRY(ParseUrl(text, 0).status());
    if (text.find_first_of("?#") != std::string::npos)
      return InvalidArgument("'", text, "' must not have a query or a fragment");
    url.prefix = text;
    while (url.prefix.back() == '/') url.prefix.pop_back();
    return url;
  }
  if (url.kind == StoreUrl::Kind::kFolder) {
    if (rest.empty() || rest[0] != '/')
      return InvalidArgument("'", text, "' is not of the form file:///PATH");
    url.prefix = rest;
    return url;
  }
  if (url.kind == StoreUrl::Kind::kS3) TERN_TRY(TakeEndpoint(rest, url));
  const size_t slash = rest.find('/');
  url.bucket = rest.substr(0, slash);
  if (slash != std::string::npos) url.prefix = TrimSlashes(rest.substr(slash));
  if (!ValidBucket(url.bucket)) return InvalidArgument("'", text, "' has no valid name of a bucket");
  return url;
}

Result<std::unique_ptr<ObjectStore>> OpenStore(const StoreUrl& url, const StoreOptions& options) {
  switch (url.kind) {
    case StoreUrl::Kind::kS3:
      return OpenS3(url, options);
    case StoreUrl::Kind::kGoogle:
      return OpenGoogle(url, options);
    case StoreUrl::Kind::kWeb:
      return OpenWeb(url, options);
    default:
      return OpenFolder(url);
  }
}

std::string Variable(const StoreOptions& options, const char* name) {
  const char* value = options.environment ? options.environment(name) : std::getenv(name);
  return value ? value : "";
}

Result<std::unique_ptr<HttpClient>> StoreClient(const StoreOptions& options) {
  HttpClientOptions client;
  client.authorities = options.authorities;
  client.idle_limit = options.timeout;
  client.connect_limit = std::min(options.timeout, std::chrono::milliseconds(5000));
  return HttpClient::Create(client);
}

Status StoreError(const HttpAnswer& answer, const std::string& what) {
  std::string code, said;
  if (StartsWith(answer.body, "<"))
    (void)ReadXml(answer.body, [&](const std::string& path, const std::string& text) {
      if (EndsWith(path, "Error/Code")) code = text;
      if (EndsWith(path, "Error/Message")) said = text;
      return Status();
    }).ok();
  std::string text = StrCat(what, ": status ", answer.status);
  if (!code.empty()) text += StrCat(", ", code.substr(0, 80));
  if (!said.empty()) text += StrCat(": ", said.substr(0, 200));
  const int status = answer.status;
  if (status == 408 || status == 429 || status >= 500) return IoError(text);
  if (status == 404) return NotFound(text);
  if (status == 412) return Unavailable(text);
  return InvalidArgument(text);
}

Result<HttpAnswer> GetObject(HttpClient& client, const Url& url, HttpFields fields, const ObjectInfo& object,
                             uint64_t offset, const ObjectSink& sink, int redirects, const Stop& stop) {
  HttpRequest request;
  request.fields = std::move(fields);
  request.max_body_bytes = object.size_known ? object.size : UINT64_MAX;
  request.redirects = redirects;
  uint64_t at = offset;
  bool first = true;
  request.sink = [&](const HttpAnswer& head, std::string_view piece) -> Status {
    if (first && head.status == 200) at = 0;  // the store sends the whole content instead of the range
    if (first && head.status == 206) {
      const std::string* range = head.Find("content-range");
      if (!range || !StartsWith(*range, StrCat("bytes ", offset, "-")))
        return IoError("the store sent another range than bytes ", offset, "-");
    }
    first = false;
    TERN_TRY(sink(at, piece));
    at += piece.size();
    return {};
  };
  return client.Send(url, request, stop);
}

}  // namespace tern::server
