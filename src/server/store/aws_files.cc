#include "server/store/aws_files.h"

#include <simdjson.h>

#include "server/store/times.h"

namespace tern::server {

std::string TrimText(std::string text) {
  while (!text.empty() &&
         (text.back() == ' ' || text.back() == '\t' || text.back() == '\r' || text.back() == '\n'))
    text.pop_back();
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.erase(0, 1);
  return text;
}

std::string IniValue(const std::string& text, const std::string& section, const std::string& key) {
  bool inside = false;
  for (const std::string& raw : SplitText(text, '\n')) {
    const std::string line = TrimText(raw);
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    if (line[0] == '[') {
      inside = line.back() == ']' && TrimText(line.substr(1, line.size() - 2)) == section;
      continue;
    }
    const size_t equal = line.find('=');
    if (inside && equal != std::string::npos && TrimText(line.substr(0, equal)) == key)
      return TrimText(line.substr(equal + 1));
  }
  return {};
}

Status ParseAwsCredentials(const std::string& json, AwsCredentials& out, int64_t& expires) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  std::string_view key, secret, token, expiration;
  if (parser.parse(json).get(root) || root["AccessKeyId"].get(key) || root["SecretAccessKey"].get(secret))
    return IoError("the answer with credentials lacks AccessKeyId or SecretAccessKey");
  if (!root["Token"].get(token)) out.session_token = token;
  out.access_key = key;
  out.secret_key = secret;
  if (root["Expiration"].get(expiration)) return {};
  const auto time = ParseIsoTime(std::string(expiration));
  if (!time) return IoError("the answer with credentials has an invalid Expiration");
  expires = *time;
  return {};
}

}  // namespace tern::server
