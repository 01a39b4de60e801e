// Splits a serialized model into a small message, which protobuf parses, and spans of large tensor data. So
// protobuf does not copy the data. A span is the raw_data of a tensor, or the float_data of an f32 tensor.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "import/onnx/proto_tensor.h"

namespace tern::onnx {

// The data of one tensor. The tensor is an initializer of the model's graph, or an attribute of one of its
// nodes.
struct RawSpan {
  int initializer = -1;
  int node = -1, attribute = -1;
  const std::byte* data = nullptr;
  size_t size = 0;
};

struct SplitModel {
  std::string stripped;  // a serialized ModelProto without the data of the spans
  std::vector<RawSpan> spans;
};

// Returns nullopt if no data has 4 KiB or more, if the message is broken, or if protobuf must merge fields.
// For example, the field `graph` may occur twice. The caller must then let protobuf parse the entire message.
std::optional<SplitModel> SplitRawData(const void* data, size_t size);

// Registers the data of each span in `raw`. `stripped` is the parsed message, which contains the tensor of
// each span.
void AddSpans(const std::vector<RawSpan>& spans, const pb::ModelProto& stripped, RawBytes& raw);

}  // namespace tern::onnx
