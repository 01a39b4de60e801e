#include "tools/page.h"

#include "base/status.h"
#include "tools/embedded.h"
#include "tools/units.h"

namespace tern::tools {
namespace {

constexpr std::string_view kMark = "@@";

std::string_view Part(std::string_view name) {
  for (const EmbeddedFile& file : EmbeddedFiles())
    if (name == file.name) return file.bytes();
  FailCheck(__FILE__, __LINE__, "embedded", {"the program has no page part '", name, "'"});
}

}  // namespace

std::string FillPage(std::string_view name, const std::map<std::string, std::string, std::less<>>& slots) {
  std::string page;
  std::string_view remaining = Part(name);
  for (size_t open; (open = remaining.find(kMark)) != std::string_view::npos;) {
    const size_t begin = open + kMark.size(), close = remaining.find(kMark, begin);
    TERN_CHECK(close != std::string_view::npos, "page part '", name, "' has a mark without an end");
    const std::string_view key = remaining.substr(begin, close - begin);
    const auto slot = slots.find(key);
    page += remaining.substr(0, open);
    page += slot == slots.end() ? Part(key) : std::string_view(slot->second);
    remaining.remove_prefix(close + kMark.size());
  }
  return page.append(remaining);
}

std::string JsonForScript(std::string_view json) {
  std::string out;
  for (const char c : json) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

std::string HtmlText(std::string_view text) {
  std::string out;
  for (const char c : Printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace tern::tools
