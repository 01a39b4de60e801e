// Reads model files so that a later change of the file cannot end the process.
#pragma once
#include <string>

#include "core/buffer.h"
#include "load/load.h"

namespace tern::server {

// The bytes of a file in memory of their own, aligned to 64 bytes. Undefined if the path is not a file, or
// the file has more than `limit` bytes.
Buffer ReadSnapshot(const std::string& path, size_t limit);

// Loads a model. A file of up to 1 GiB is read into memory: if it stayed mapped and somebody overwrote it,
// the next access would end in SIGBUS. Larger files, folders and models with external data are mapped; their
// owner must replace them by renaming.
Result<load::Loaded> LoadSnapshot(const std::string& path);

}  // namespace tern::server
