// Reads LevelDB tables: sorted keys and values in blocks, which may be compressed with Snappy.
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "base/status.h"

namespace tern::tensorflow {

// Returns all entries of a table. Fails if the table is broken or a checksum is wrong.
Result<std::map<std::string, std::string>> ReadTable(std::string_view file);

}  // namespace tern::tensorflow
