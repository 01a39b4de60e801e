// Reads an ONNX model into a Tern graph.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "core/datum.h"
#include "ir/graph.h"

namespace tern::onnx {

// Reads a model from a file. The import ignores unknown attributes. If `warnings` is not null, it receives
// one sentence for each unknown attribute, and for each other part of a node that was ignored. `workers` are
// the threads that copy the weights.
Result<std::unique_ptr<Graph>> ImportFile(const std::string& path,
                                          std::vector<std::string>* warnings = nullptr,
                                          const Workers& workers = Workers());
// Reads a model from memory. `folder` is the folder of external data. If `folder` is empty, a model with
// external data is an error.
Result<std::unique_ptr<Graph>> ImportBytes(const void* data, size_t size, const std::string& folder = "",
                                           std::vector<std::string>* warnings = nullptr,
                                           const Workers& workers = Workers());

// Returns the names of all ONNX operators that have a converter.
std::vector<std::string> SupportedOperators();

// Reads an input or expected output of a test from a file. The file contains a TensorProto, SequenceProto,
// OptionalProto or MapProto, depending on `type`.
Result<Datum> ReadTestDatum(const std::string& path, const Type& type);

}  // namespace tern::onnx
