#include "server/store/sums.h"

#include "server/store/digest.h"

namespace tern::server {

Result<std::map<std::string, std::string>> ParseSums(std::string_view text, size_t limit) {
  std::map<std::string, std::string> sums;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty()) continue;
    if (number > limit) return InvalidArgument(kSumsFile, " has more than ", limit, " lines");
    std::string bytes;
    if (line.size() < 67 || line[64] != ' ' || (line[65] != ' ' && line[65] != '*') ||
        !FromHex(line.substr(0, 64), bytes))
      return InvalidArgument("line ", number, " of ", kSumsFile,
                             " is not of the form of sha256sum: <64 digits>  <name>");
    std::string name(line.substr(66));
    if (StartsWith(name, "./")) name.erase(0, 2);
    if (!sums.emplace(name, Hex(bytes)).second)
      return InvalidArgument("line ", number, " of ", kSumsFile, " names '", name, "' again");
  }
  return sums;
}

}  // namespace tern::server
