// Reads stored test vectors. A test vector is a folder. It contains the files input_K and output_K (.pb,
// .npy or .npz), or the file io.npz. The arrays of io.npz have the names of inputs and outputs.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "tools/feeds.h"

namespace tern::tools {

struct Vectors {
  std::string folder;
  Feeds inputs;
  Feeds outputs;  // the outputs that the folder contains
};

// Returns the test vector in the folder, or the test vectors in its sub-folders (test_data_set_0, …). Fails
// if there is none, or if `with_outputs` is true and a test vector has no outputs.
Result<std::vector<Vectors>> ReadVectors(const Graph& graph, const std::string& folder, bool with_outputs);

}  // namespace tern::tools
