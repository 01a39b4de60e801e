// The one way into Tern for models: finds the format, finds its reader, reads.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "load/format.h"

namespace tern::load {

struct Loaded {
  std::unique_ptr<Graph> graph;
  const Format* format = nullptr;     // lives as long as the table
  std::vector<std::string> warnings;  // what the file says and the reader ignores
};

// A file or a folder. Ops must be registered (InitOps). The file is mapped once. threads: that may copy
// weights; 0: one per core.
Result<Loaded> LoadFile(const std::string& path, int threads = 0, const FormatTable& formats = Formats());
// A model in memory. A .tern model refers to `bytes`, others copy what they need. External data is refused.
Result<Loaded> LoadBytes(const Buffer& bytes, int threads = 0, const FormatTable& formats = Formats());

// The reader of a format that has one. Opens its library on first use: beside libtern, else on the library
// path. Thread-safe. A failed attempt is not remembered.
Result<ReadFunction> ReaderOf(const Format& format);

}  // namespace tern::load
