#include "server/net/http_answer.h"

#include "server/http/decimal.h"

namespace tern::server {
namespace {

constexpr size_t kMaxFields = 200;

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  return out;
}

bool IsToken(std::string_view text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) <= 32 || static_cast<unsigned char>(c) >= 127 || c == ':') return false;
  return !text.empty();
}

Status ParseStatusLine(std::string_view line, HttpAnswer& answer) {
  int64_t status = 0;
  const bool known = StartsWith(line, "HTTP/1.1 ") || StartsWith(line, "HTTP/1.0 ");
  if (!known || line.size() < 12 || (line.size() > 12 && line[12] != ' ') ||
      !ParseInt(line.substr(9, 3), status) || status < 100 || status > 599)
    return IoError("the answer is not HTTP/1.1");
  answer.status = static_cast<int>(status);
  return {};
}

// Returns whether a comma-separated list has this item, in any case.
bool Lists(const std::string* field, std::string_view item) {
  if (!field) return false;
  for (const std::string& part : SplitText(*field, ','))
    if (EqualsIgnoreCase(Trim(part), item)) return true;
  return false;
}

}  // namespace

const std::string* HttpAnswer::Find(std::string_view name) const {
  for (const auto& [key, value] : fields)
    if (key == name) return &value;
  return nullptr;
}

Result<HttpAnswer> ParseAnswerHead(std::string_view head) {
  HttpAnswer answer;
  bool first = true;
  while (!head.empty()) {
    const size_t end = head.find("\r\n");
    const std::string_view line = head.substr(0, end);
    head = end == std::string_view::npos ? std::string_view() : head.substr(end + 2);
    if (line.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos)
      return IoError("the answer has a malformed field");
    if (first) {
      TERN_TRY(ParseStatusLine(line, answer));
      first = false;
      continue;
    }
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || !IsToken(line.substr(0, colon)))
      return IoError("the answer has a malformed field");
    if (answer.fields.size() == kMaxFields)
      return IoError("the answer has more than ", kMaxFields, " fields");
    answer.fields.emplace_back(Lower(line.substr(0, colon)), std::string(Trim(line.substr(colon + 1))));
  }
  if (first) return IoError("the answer is not HTTP/1.1");
  return answer;
}

Result<BodyFraming> FramingOf(const HttpAnswer& answer, std::string_view method, bool http11) {
  BodyFraming framing;
  const std::string* connection = answer.Find("connection");
  framing.keep_alive = http11 ? !Lists(connection, "close") : Lists(connection, "keep-alive");
  if (method == "HEAD" || answer.status == 204 || answer.status == 304 || answer.status < 200) return framing;
  const std::string* length = nullptr;
  const std::string* coding = nullptr;
  for (const auto& [name, value] : answer.fields) {
    if (name == "content-length") {
      if (length && *length != value) return IoError("the answer has two lengths");
      length = &value;
    } else if (name == "transfer-encoding") {
      if (coding || !EqualsIgnoreCase(value, "chunked"))
        return IoError("the answer has an unknown transfer encoding");
      coding = &value;
    }
  }
  if (coding && length) return IoError("the answer has a length and is chunked");
  if (coding) {
    framing.kind = BodyFraming::Kind::kChunked;
  } else if (length) {
    const auto bytes = ParseDecimal(*length);
    if (!bytes) return IoError("the answer has an invalid length");
    framing.kind = BodyFraming::Kind::kLength;
    framing.length = *bytes;
  } else {
    framing.kind = BodyFraming::Kind::kUntilClose;
    framing.keep_alive = false;
  }
  return framing;
}

}  // namespace tern::server
