// Stored test vectors: a folder with input_K / output_K as .pb or .npy, or io.npz with the values' names.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "tools/feeds.h"

namespace tern::tools {

struct Vectors {
  std::string folder;
  Feeds inputs;
  Feeds outputs;  // only those that are stored
};

// The folder's own vectors, or those of its sub-folders (test_data_set_0 …). None at all is an error; so are
// inputs without a single output when `with_outputs`.
Result<std::vector<Vectors>> ReadVectors(const Graph& graph, const std::string& folder, bool with_outputs);

}  // namespace tern::tools
