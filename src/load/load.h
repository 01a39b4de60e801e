// Loads a model of any format: recognises the format, opens its importer and reads the model. The tools, the
// APIs and the server load models with these functions.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "load/format.h"

namespace tern::load {

struct Loaded {
  std::unique_ptr<Graph> graph;
  const Format* format = nullptr;     // a row of the FormatTable
  std::vector<std::string> warnings;  // one sentence for each ignored property of the file
};

// Loads a file or a folder. Ops must be registered (InitOps). Files are memory-mapped. Fails if the options
// name a weights file or a signature, but the format has no such thing.
Result<Loaded> LoadFile(const std::string& path, const LoadOptions& options = {},
                        const FormatTable& formats = Formats());
// Loads a model from memory. The weights of a .tern model point into `bytes`. Readers of other formats copy
// the weights. Fails if the model has external data.
Result<Loaded> LoadBytes(const Buffer& bytes, const LoadOptions& options = {},
                         const FormatTable& formats = Formats());

// Returns the sorted names of the model files in a folder, which have the extension of a format that Tern
// reads. Leaves out the files for which BelongsToModel is true.
std::vector<std::string> ModelFilesIn(const std::string& folder, const FormatTable& formats = Formats());
// Returns whether a file with the extension of a model is part of another model: config.pbtxt, whose
// extension TensorFlow graphs also have, or weights beside the file that describes their network.
bool BelongsToModel(const std::string& path);

// Returns the reader of a format for which Format::readable() is true. The first call loads the format's
// library from the folder of libtern. If the library is not there, it is loaded from the library path. After
// a failure, the next call tries again. Thread-safe.
Result<ReadFunction> ReaderOf(const Format& format);
// Returns the operators of a format that a library reads. Fails if the library cannot be loaded, or if the
// format has no operators of its own. Thread-safe.
Result<std::vector<Operator>> OperatorsOf(const Format& format);

}  // namespace tern::load
