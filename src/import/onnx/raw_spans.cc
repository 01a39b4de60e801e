#include "import/onnx/raw_spans.h"

#include <string_view>
#include <utility>

#include "import/common/wire.h"

namespace tern::onnx {
namespace {

using import::WireField;
using import::WireReader;
using import::WriteVarint;

constexpr size_t kLarge = size_t{4} << 10;  // bytes; smaller data stays in the message

enum class Kind { kModel, kGraph, kNode, kAttribute, kTensor, kNone };

// Returns the kind of message that a field contains. Returns kNone for fields in which the splitter does not
// look for tensor data.
Kind ChildOf(Kind kind, uint64_t field) {
  if (kind == Kind::kModel && field == 7) return Kind::kGraph;
  if (kind == Kind::kGraph && field == 1) return Kind::kNode;
  if (kind == Kind::kGraph && field == 5) return Kind::kTensor;
  if (kind == Kind::kNode && field == 5) return Kind::kAttribute;
  if (kind == Kind::kAttribute && field == 5) return Kind::kTensor;
  return Kind::kNone;
}

constexpr uint64_t kDataType = 2, kFloatData = 4, kRawData = 9;  // fields of TensorProto
constexpr uint64_t kFloat = 1;                                   // the data_type of f32

// Returns whether the splitter refuses a message in which this field occurs twice. Protobuf merges a second
// occurrence with the first, but the splitter cannot do this. A tensor with both float_data and raw_data is
// refused too.
bool Singular(Kind kind, uint64_t field) {
  return (kind == Kind::kModel && field == 7) || (kind == Kind::kAttribute && field == 5) ||
         (kind == Kind::kTensor && (field == kFloatData || field == kRawData));
}

class Splitter {
 public:
  std::vector<RawSpan> spans;

  // Appends `message` without its large tensor data to `out`, and appends the data to `spans`. `at` contains
  // the indices of the initializer, or of the node and attribute, that encloses the message. Returns false if
  // the message cannot be split (see SplitRawData).
  bool Strip(Kind kind, std::string_view message, RawSpan at, std::string& out) {
    WireReader reader(message);
    bool seen = false, typed = false, floats = false;
    int nodes = 0, initializers = 0, attributes = 0;
    WireField field;
    while (!reader.done()) {
      if (!reader.Next(field)) return false;
      const Kind child = ChildOf(kind, field.number);
      if (!field.bytes && (child != Kind::kNone || Singular(kind, field.number))) return false;
      if (Singular(kind, field.number) && std::exchange(seen, true)) return false;
      if (kind == Kind::kTensor && field.number == kDataType && std::exchange(typed, true)) return false;
      RawSpan inner = at;
      if (child == Kind::kNode) inner.node = nodes++;
      if (child == Kind::kAttribute) inner.attribute = attributes++;
      if (kind == Kind::kGraph && child == Kind::kTensor) inner.initializer = initializers++;
      if (kind == Kind::kTensor && field.number == kDataType) floats = !field.bytes && field.value == kFloat;
      const bool large = field.bytes && field.contents.size() >= kLarge;
      const bool data =
          field.number == kRawData || (field.number == kFloatData && floats);  // both have the same bytes
      if (large && kind == Kind::kTensor && data) {
        inner.data = reinterpret_cast<const std::byte*>(field.contents.data());
        inner.size = field.contents.size();
        spans.push_back(inner);
      } else if (large && child != Kind::kNone) {
        std::string stripped;
        if (!Strip(child, field.contents, inner, stripped)) return false;
        WriteVarint(field.number << 3 | 2, out);
        WriteVarint(stripped.size(), out);
        out += stripped;
      } else {
        out += field.encoded;
      }
    }
    return true;
  }
};

}  // namespace

std::optional<SplitModel> SplitRawData(const void* data, size_t size) {
  Splitter splitter;
  SplitModel split;
  if (!splitter.Strip(Kind::kModel, {static_cast<const char*>(data), size}, {}, split.stripped) ||
      splitter.spans.empty())
    return std::nullopt;
  split.spans = std::move(splitter.spans);
  return split;
}

void AddSpans(const std::vector<RawSpan>& spans, const pb::ModelProto& stripped, RawBytes& raw) {
  for (const RawSpan& span : spans) {
    const auto& graph = stripped.graph();
    raw.Add(span.node < 0 ? graph.initializer(span.initializer)
                          : graph.node(span.node).attribute(span.attribute).t(),
            span.data, span.size);
  }
}

}  // namespace tern::onnx
