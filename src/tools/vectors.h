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

// Returns the vectors in the folder, or those in its sub-folders (test_data_set_0 …). Fails if there are
// none, or if `with_outputs` is set and a vector has no outputs.
Result<std::vector<Vectors>> ReadVectors(const Graph& graph, const std::string& folder, bool with_outputs);

}  // namespace tern::tools
