// Loads a model of any format: recognises the format, opens its importer and reads the model. All entry
// points of Tern use it.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "load/format.h"

namespace tern::load {

struct Loaded {
  std::unique_ptr<Graph> graph;
  const Format* format = nullptr;     // a row of the FormatTable
  std::vector<std::string> warnings;  // one sentence for each property of the file that is ignored
};

// Loads a file or a folder. Ops must be registered (InitOps). Files are memory-mapped. threads: for copying
// weights; 0: one per core.
Result<Loaded> LoadFile(const std::string& path, int threads = 0, const FormatTable& formats = Formats());
// Loads a model from memory. A .tern model refers to `bytes`; readers of other formats copy the weights.
// Fails if the model has external data.
Result<Loaded> LoadBytes(const Buffer& bytes, int threads = 0, const FormatTable& formats = Formats());

// Returns the reader of a format (Format::readable). The first call loads its library from the folder of
// libtern, else from the library path. A later call retries after a failure. Thread-safe.
Result<ReadFunction> ReaderOf(const Format& format);

}  // namespace tern::load
