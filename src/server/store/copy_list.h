// The list of the files of a local copy.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "base/status.h"

namespace tern::server {

struct CopiedFile {
  uint64_t size = 0;
  std::string version;  // VersionId of the object
  std::string sha256;
};

using CopiedFiles = std::map<std::string, CopiedFile>;  // by path below the model's folder

std::string WriteCopyList(const CopiedFiles& files);
// Fails if the text is not complete, or has a path that CheckKey refuses.
Result<CopiedFiles> ParseCopyList(const std::string& text);

}  // namespace tern::server
