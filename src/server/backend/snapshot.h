// Reads model files into memory, so that a later change of a file cannot crash the process.
#pragma once
#include <map>
#include <string>

#include "core/buffer.h"
#include "load/load.h"

namespace tern::server {

// Returns a copy of a file's bytes, aligned to 64 bytes. The result is undefined if the path is not a file,
// or if the file has more than `limit` bytes.
Buffer ReadSnapshot(const std::string& path, size_t limit);

// Loads a model. A file of up to 1 GiB is read into memory, because an access to a mapped file can raise
// SIGBUS after somebody has overwritten the file. Larger files, folders, models with external data, and files
// whose format is recognized only by name are mapped. To replace a mapped file safely, write the new file
// elsewhere and rename it.
// `input_types` are for formats that do not declare types. `signature` is LoadOptions::signature.
Result<load::Loaded> LoadSnapshot(const std::string& path, std::map<std::string, Type> input_types = {},
                                  const std::string& signature = {});

}  // namespace tern::server
