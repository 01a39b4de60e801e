// Splits a model into a small message for protobuf and spans of large tensor data (raw_data, and float_data
// of f32), which protobuf does not copy.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "import/onnx/proto_tensor.h"

namespace tern::onnx {

// The data of one tensor: an initializer of the model's graph, or an attribute of one of its nodes.
struct RawSpan {
  int initializer = -1;
  int node = -1, attribute = -1;
  const std::byte* data = nullptr;
  size_t size = 0;
};

struct SplitModel {
  std::string stripped;  // a ModelProto without that data
  std::vector<RawSpan> spans;
};

// Returns nullopt if there is no large data, if the message is broken, or if its fields need protobuf's merge
// rules (a graph in two parts). Protobuf then parses the entire message.
std::optional<SplitModel> SplitRawData(const void* data, size_t size);

// Registers each span for its tensor in the parsed message.
void AddSpans(const std::vector<RawSpan>& spans, const pb::ModelProto& stripped, RawBytes& raw);

}  // namespace tern::onnx
