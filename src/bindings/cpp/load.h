// Models for the public API: .tern by itself, .onnx through a library of its own, so that programs which only
// run .tern files need no protobuf.
#pragma once
#include <memory>
#include <string>

#include "ir/graph.h"

namespace tern {

Result<std::unique_ptr<Graph>> LoadModelFile(const std::string& path);
// `folder`-less: external data is refused.
Result<std::unique_ptr<Graph>> LoadModelBytes(const void* data, size_t size);

// What libtern_onnx offers under the name kOnnxImportSymbol. path: a file, or null for the bytes.
using OnnxImport = void (*)(const char* path, const void* data, size_t size,
                            Result<std::unique_ptr<Graph>>* result);
inline constexpr const char* kOnnxImportSymbol = "tern_onnx_import";

}  // namespace tern
