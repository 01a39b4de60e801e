// Models for the public API: .tern by itself, .onnx through a library of its own, so that programs which only
// run .tern files need no protobuf.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tern {

// threads: how many may copy weights, as in SessionOptions. warnings: gets what the import ignores.
Result<std::unique_ptr<Graph>> LoadModelFile(const std::string& path, int threads,
                                             std::vector<std::string>& warnings);
// `folder`-less: external data is refused.
Result<std::unique_ptr<Graph>> LoadModelBytes(const void* data, size_t size, int threads,
                                              std::vector<std::string>& warnings);

// What libtern_onnx offers under the name kOnnxImportSymbol. path: a file, or null for the bytes.
// The number in the name changes with the parameters.
using OnnxImport = void (*)(const char* path, const void* data, size_t size, int threads,
                            std::vector<std::string>* warnings, Result<std::unique_ptr<Graph>>* result);
inline constexpr const char* kOnnxImportSymbol = "tern_onnx_import_3";

}  // namespace tern
