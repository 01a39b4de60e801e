#include "server/store/sigv4.h"

#include <algorithm>
#include <ctime>

#include "server/net/url.h"
#include "server/store/digest.h"

namespace tern::server {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

std::string Lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  return text;
}

// Removes spaces at both ends, and replaces runs of spaces by one.
std::string Squeeze(const std::string& text) {
  std::string out;
  for (const char c : text)
    if (c != ' ' || (!out.empty() && out.back() != ' ')) out += c;
  if (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

// Fields in the canonical order. Equal names are joined.
Pairs CanonicalFields(const Pairs& fields) {
  Pairs sorted;
  for (const auto& [name, value] : fields) sorted.emplace_back(Lower(name), Squeeze(value));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Pairs out;
  for (auto& [name, value] : sorted) {
    if (!out.empty() && out.back().first == name)
      out.back().second += "," + value;
    else
      out.emplace_back(name, value);
  }
  return out;
}

}  // namespace

std::string CanonicalQuery(Pairs query) {
  for (auto& [name, value] : query) {
    name = PercentEncode(name);
    value = PercentEncode(value);
  }
  std::sort(query.begin(), query.end());
  std::vector<std::string> parts;
  for (const auto& [name, value] : query) parts.push_back(StrCat(name, "=", value));
  return Join(parts, "&");
}

std::string SignV4(const SignedRequest& request, const AwsCredentials& credentials, const std::string& region,
                   const std::string& service, const std::string& time) {
  const Pairs fields = CanonicalFields(request.fields);
  std::string lines;
  std::vector<std::string> names;
  for (const auto& [name, value] : fields) {
    lines += StrCat(name, ":", value, "\n");
    names.push_back(name);
  }
  const std::string signed_names = Join(names, ";");
  const std::string canonical =
      StrCat(request.method, "\n", request.path, "\n", CanonicalQuery(request.query), "\n", lines, "\n",
             signed_names, "\n", request.payload_sha256);
  const std::string date = time.substr(0, 8);
  const std::string scope = StrCat(date, "/", region, "/", service, "/aws4_request");
  const std::string text = StrCat("AWS4-HMAC-SHA256\n", time, "\n", scope, "\n", Hex(Sha256(canonical)));
  std::string key = HmacSha256("AWS4" + credentials.secret_key, date);
  for (const std::string& part : {region, service, std::string("aws4_request")}) key = HmacSha256(key, part);
  return StrCat("AWS4-HMAC-SHA256 Credential=", credentials.access_key, "/", scope,
                ", SignedHeaders=", signed_names, ", Signature=", Hex(HmacSha256(key, text)));
}

std::string AmzDate(int64_t unix_seconds) {
  const auto seconds = static_cast<time_t>(unix_seconds);
  tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &utc)};
}

}  // namespace tern::server
