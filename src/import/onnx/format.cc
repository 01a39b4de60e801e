// Recognises ONNX models, which are protobuf messages without magic bytes.
#include <cstdint>

#include "load/format.h"

namespace tern::load {
namespace {

// Removes a varint from the front of `bytes`. Returns false if the varint is truncated or too long.
bool TakeVarint(std::string_view& bytes, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[0]);
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

enum Wire : uint64_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };
constexpr uint64_t kGraph = 7;

// Returns whether ModelProto may contain this field with this wire type. Unknown fields are accepted, because
// they may belong to a later version of ONNX.
bool Fits(uint64_t field, uint64_t wire) {
  if (field == 0) return false;
  if (field == 1 || field == 5) return wire == kVarint;  // ir_version, model_version
  if (field <= 8) return wire == kBytes;
  return wire == kVarint || wire == kFixed64 || wire == kBytes || wire == kFixed32;
}

// Removes a value of this wire type from the front of `bytes`. Returns false if the value is truncated.
bool SkipValue(std::string_view& bytes, uint64_t wire) {
  uint64_t size = wire == kFixed64 ? 8 : wire == kFixed32 ? 4 : 0;
  if (wire == kVarint) return TakeVarint(bytes, size);
  if (wire == kBytes && !TakeVarint(bytes, size)) return false;
  if (size > bytes.size()) return false;
  bytes.remove_prefix(size);
  return true;
}

// Reads the tags of ModelProto's fields and skips their contents. A truncated message that contains a graph
// counts as an ONNX model, so that the user gets the importer's error about the truncation.
bool IsOnnx(std::string_view bytes) {
  bool graph = false;
  while (!bytes.empty()) {
    uint64_t tag = 0;
    if (!TakeVarint(bytes, tag)) return graph;
    const uint64_t field = tag >> 3, wire = tag & 7;
    if (!Fits(field, wire)) return false;
    graph |= field == kGraph;
    if (!SkipValue(bytes, wire)) return graph;
  }
  return graph;
}

}  // namespace

TERN_FORMAT(Onnx) {
  return {.name = "ONNX",
          .title = "an ONNX model",
          .extensions = {".onnx"},
          .recognise = IsOnnx,
          .library = "onnx"};
}

}  // namespace tern::load
