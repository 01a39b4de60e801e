// Writes models. The file's extension determines its format.
#pragma once
#include <string>

#include "ir/graph.h"

namespace tern::quantize {

struct SaveFormat {
  bool external_data = false;  // .onnx: weights are stored in PATH.data
  bool contrib = false;        // .onnx: see onnx::ExportOptions
};

// Fails if the name does not end in .tern or .onnx, or if `path` is the file `source`.
Status CheckTarget(const std::string& path, const std::string& source);
// Writes the graph. `source` is the file that the graph was loaded from; a .tern file stores its checksum.
// Returns the number of nodes in the written file, which for ONNX may differ from that of the graph. If
// writing fails, a file that exists at `path` is not changed.
Result<int64_t> SaveModel(const Graph& graph, const std::string& path, const std::string& source,
                          const SaveFormat& format = {});

}  // namespace tern::quantize
