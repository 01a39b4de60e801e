#include "server/store/copy_list.h"

#include "server/store/digest.h"
#include "server/store/listing.h"

namespace tern::server {
namespace {

constexpr const char* kHead = "tern copy 1";
constexpr const char* kEnd = "end";

}  // namespace

std::string WriteCopyList(const CopiedFiles& files) {
  std::string text = StrCat(kHead, "\n");
  for (const auto& [path, file] : files)
    text += StrCat(file.size, "\t", file.sha256, "\t", file.version, "\t", path, "\n");
  return StrCat(text, kEnd, "\n");
}

Result<CopiedFiles> ParseCopyList(const std::string& text) {
  const Status damaged = InvalidArgument("a list of copied files is damaged");
  std::vector<std::string> lines = SplitText(text, '\n');
  if (lines.size() < 3 || lines.front() != kHead || !lines.back().empty() || lines[lines.size() - 2] != kEnd)
    return damaged;
  CopiedFiles files;
  for (size_t i = 1; i + 2 < lines.size(); ++i) {
    const std::vector<std::string> parts = SplitText(lines[i], '\t');
    CopiedFile file;
    std::string bytes;
    if (parts.size() != 4 || !ParseUnsigned(parts[0], file.size) || parts[1].size() != 64 ||
        !FromHex(parts[1], bytes) || parts[2].size() != 32 || !FromHex(parts[2], bytes) ||
        !CheckKey(parts[3]).ok())
      return damaged;
    file.sha256 = parts[1];
    file.version = parts[2];
    files[parts[3]] = std::move(file);
  }
  return files;
}

}  // namespace tern::server
