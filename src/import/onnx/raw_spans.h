// A model without its large tensors' bytes (raw_data, and float_data of f32), which stay where they are:
// protobuf need not read them.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "import/onnx/proto_tensor.h"

namespace tern::onnx {

// The data of one tensor: of an initializer of the model's own graph, or of an attribute of one of its
// nodes.
struct RawSpan {
  int initializer = -1;
  int node = -1, attribute = -1;
  const std::byte* data = nullptr;
  size_t size = 0;
};

struct SplitModel {
  std::string rest;  // a ModelProto that lacks them
  std::vector<RawSpan> spans;
};

// Nothing where there are no large data, or where the message is broken or puts fields together in a way
// that only protobuf should judge (a graph in two parts): then it is parsed as a whole.
std::optional<SplitModel> SplitRawData(const void* data, size_t size);

// Tells which tensors of the parsed rest the spans belong to.
void AddSpans(const std::vector<RawSpan>& spans, const pb::ModelProto& rest, RawBytes& raw);

}  // namespace tern::onnx
