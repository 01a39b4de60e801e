// Decompresses Snappy blocks, as LevelDB tables contain them.
#pragma once
#include <string>
#include <string_view>

#include "base/status.h"

namespace tern::tensorflow {

// Fails if the block is broken, or if its contents have more than `limit` bytes.
Result<std::string> Unsnappy(std::string_view block, size_t limit);

}  // namespace tern::tensorflow
