#include "runtime/tune/record.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/strings.h"

namespace tern {
namespace {

constexpr std::string_view kFirstLine = "tern tuning record 1";
constexpr size_t kMaxNodes = 20'000, kMaxText = 4096, kMaxCandidates = 64;
constexpr double kMaxMicroseconds = 1e12;

bool IsKernelName(std::string_view text) {
  return !text.empty() && text.size() <= 128 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_';
  });
}

std::string_view TakeLine(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// Parses "name=microseconds".
bool ParseMeasured(std::string_view text, Measured& out) {
  const size_t at = text.find('=');
  if (at == std::string_view::npos || !IsKernelName(text.substr(0, at))) return false;
  out.kernel = std::string(text.substr(0, at));
  return ParseDouble(text.substr(at + 1), out.microseconds) && std::isfinite(out.microseconds) &&
         out.microseconds > 0 && out.microseconds < kMaxMicroseconds;
}

// Parses "node<tab>name=microseconds name=microseconds …".
bool ParseNode(std::string_view line, std::string& node, std::vector<Measured>& times) {
  const size_t tab = line.find('\t');
  if (tab == std::string_view::npos) return false;
  node = std::string(line.substr(0, tab));
  if (!Recordable(node) || line.size() - tab > kMaxText) return false;
  times.clear();
  for (const std::string& item : SplitText(line.substr(tab + 1), ' ')) {
    Measured m;
    if (times.size() == kMaxCandidates || !ParseMeasured(item, m)) return false;
    times.push_back(std::move(m));
  }
  return times.size() >= 2;
}

std::string Header(const RecordKey& key) {
  return StrCat(kFirstLine, "\ncpu: ", key.cpu, "\nisa: ", key.isa, "\nkernels: ", key.kernels, "\n");
}

std::string LineOf(const std::string& node, const std::vector<Measured>& times) {
  std::string line = node;
  for (size_t i = 0; i < times.size(); ++i)
    line +=
        StrCat(i == 0 ? "\t" : " ", times[i].kernel, "=", std::round(times[i].microseconds * 1000) / 1000);
  return line;
}

}  // namespace

bool Recordable(const std::string& node) {
  return !node.empty() && node.size() <= kMaxText && node[0] != '#' &&
         std::all_of(node.begin(), node.end(), [](char c) { return static_cast<unsigned char>(c) >= ' '; });
}

RecordLines ParseRecord(std::string_view text, const RecordKey& key) {
  const std::string header = Header(key);
  if (text.substr(0, header.size()) != header) return {};
  text.remove_prefix(header.size());
  RecordLines out;
  std::set<std::string> seen;
  while (!text.empty() && out.size() < kMaxNodes) {
    std::string node;
    std::vector<Measured> times;
    if (ParseNode(TakeLine(text), node, times) && seen.insert(node).second)
      out.emplace_back(std::move(node), std::move(times));
  }
  return out;
}

std::string FormatRecord(const Measurements& fresh, const RecordLines& old, const RecordKey& key) {
  std::string out =
      Header(key) + "# a node, then microseconds of each measured kernel; the kernel to use comes first\n";
  size_t count = 0;
  const auto add = [&](const std::string& node, const std::vector<Measured>& times) {
    if (!Recordable(node) || times.size() < 2 || count == kMaxNodes) return;
    const std::string line = LineOf(node, times);
    std::string name;
    std::vector<Measured> read;
    // Omits a line that ParseNode would reject, because a rounded time is 0 or the text is too long.
    if (!ParseNode(line, name, read) || out.size() + line.size() + 1 > kMaxRecordBytes) return;
    out += line + "\n";
    ++count;
  };
  for (const auto& [node, times] : fresh) add(node, times);
  for (const auto& [node, times] : old)
    if (!fresh.count(node)) add(node, times);
  return out;
}

}  // namespace tern
