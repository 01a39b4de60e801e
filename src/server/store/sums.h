// Files of checksums in the form of sha256sum(1). A version folder may have one, and a repository on a web
// server needs one at its root.
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "base/status.h"

namespace tern::server {

inline constexpr const char* kSumsFile = "SHA256SUMS";

// Parses lines "<64 hexadecimal digits>  <name>" or "<digits> *<name>" and returns the checksums, in lower
// case, by name. A leading "./" of names is removed. Fails with kInvalidArgument, and names the line, for
// anything else, for a name that occurs twice, and for more than `limit` lines.
Result<std::map<std::string, std::string>> ParseSums(std::string_view text, size_t limit);

}  // namespace tern::server
