#include "server/store/xml.h"

#include <vector>

#include "data/utf8.h"

namespace tern::server {
namespace {

constexpr size_t kMaxDepth = 16, kMaxName = 128;

Status Malformed() { return IoError("the answer is not well-formed XML"); }

bool ReadEntity(std::string_view name, std::string& out) {
  constexpr std::pair<const char*, char> kNamed[] = {
      {"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
  for (const auto& [text, c] : kNamed)
    if (name == text) {
      out += c;
      return true;
    }
  if (name.size() < 2 || name[0] != '#' || name.size() > 9) return false;
  const bool hex = name[1] == 'x';
  uint32_t code = 0;
  for (const char c : name.substr(hex ? 2 : 1)) {
    const int digit = c >= '0' && c <= '9'                        ? c - '0'
                      : hex && (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                                  : -1;
    if (digit < 0) return false;
    code = code * (hex ? 16 : 10) + static_cast<uint32_t>(digit);
    if (code > 0x10FFFF) return false;
  }
  if (name.size() < (hex ? 3u : 2u) || code == 0 || (code >= 0xD800 && code < 0xE000)) return false;
  data::AppendUtf8(code, out);
  return true;
}

class Reader {
 public:
  using Visit = std::function<Status(const std::string&, const std::string&)>;
  Reader(std::string_view xml, const Visit& visit) : left_(xml), visit_(visit) {}

  Status Read() {
    while (!left_.empty()) {
      const size_t tag = left_.find('<');
      TERN_TRY(Text(left_.substr(0, tag)));
      if (tag == std::string_view::npos) break;
      left_.remove_prefix(tag);
      TERN_TRY(Tag());
    }
    return open_.empty() && seen_ ? Status() : Malformed();
  }

 private:
  struct Element {
    size_t path = 0;  // the length of the parent's path
    std::string text;
  };

  Status Text(std::string_view text) {
    while (!text.empty()) {
      const size_t entity = text.find('&');
      const std::string_view plain = text.substr(0, entity);
      if (!open_.empty())
        open_.back().text += plain;
      else if (plain.find_first_not_of(" \t\r\n\xEF\xBB\xBF") != std::string_view::npos)
        return Malformed();
      if (entity == std::string_view::npos) return {};
      const size_t end = text.find(';', entity);
      if (open_.empty() || end == std::string_view::npos ||
          !ReadEntity(text.substr(entity + 1, end - entity - 1), open_.back().text))
        return Malformed();
      text.remove_prefix(end + 1);
    }
    return {};
  }

  // Skips up to and including `end`.
  Status Skip(std::string_view end) {
    const size_t at = left_.find(end);
    if (at == std::string_view::npos) return Malformed();
    left_.remove_prefix(at + end.size());
    return {};
  }

  Status Tag() {
    if (StartsWith(left_, "<?")) return Skip("?>");
    if (StartsWith(left_, "<!--")) return Skip("-->");
    if (StartsWith(left_, "<!")) return Malformed();
    const size_t end = TagEnd();
    if (end == std::string_view::npos) return Malformed();
    std::string_view tag = left_.substr(1, end - 1);
    left_.remove_prefix(end + 1);
    if (StartsWith(tag, "/")) return Close(tag.substr(1));
    const bool empty = !tag.empty() && tag.back() == '/';
    if (empty) tag.remove_suffix(1);
    const std::string_view name = tag.substr(0, tag.find_first_of(" \t\r\n"));
    TERN_TRY(Open(name));
    return empty ? Close(name) : Status();
  }

  // The position of the '>' that ends the tag; quoted attributes may contain others.
  size_t TagEnd() const {
    char quote = 0;
    for (size_t i = 1; i < left_.size(); ++i) {
      const char c = left_[i];
      if (quote ? c == quote : c == '"' || c == '\'')
        quote = quote ? '\0' : c;
      else if (!quote && c == '>')
        return i;
    }
    return std::string_view::npos;
  }

  Status Open(std::string_view name) {
    if (name.empty() || name.size() > kMaxName || name.find_first_of("/<&") != std::string_view::npos ||
        open_.size() == kMaxDepth || (open_.empty() && seen_))
      return Malformed();
    seen_ = true;
    open_.push_back({path_.size(), ""});
    if (!path_.empty()) path_ += '/';
    path_ += name;
    return {};
  }

  Status Close(std::string_view name) {
    while (!name.empty() && (name.back() == ' ' || name.back() == '\n')) name.remove_suffix(1);
    if (open_.empty()) return Malformed();
    const size_t begin = open_.back().path ? open_.back().path + 1 : 0;
    if (std::string_view(path_).substr(begin) != name) return Malformed();
    TERN_TRY(visit_(path_, open_.back().text));
    path_.resize(open_.back().path);
    open_.pop_back();
    return {};
  }

  std::string_view left_;
  const Visit& visit_;
  std::string path_;
  std::vector<Element> open_;
  bool seen_ = false;
};

}  // namespace

Status ReadXml(std::string_view xml,
               const std::function<Status(const std::string&, const std::string&)>& visit) {
  return Reader(xml, visit).Read();
}

}  // namespace tern::server
