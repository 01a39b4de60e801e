// Converts operators that change the element type: Cast, CastLike, BitCast.
#include "import/onnx/require.h"
#include "onnx.pb.h"

namespace tern::onnx {
namespace {

// Returns the type with this name. Before opset 6, attribute `to` is a string such as "FLOAT". But many files
// of such opsets store the number of the type.
Result<DType> NamedType(const OnnxNode& n, const std::string& name) {
  static constexpr std::pair<const char*, DType> kNames[] = {
      {"FLOAT", DType::kF32}, {"UINT8", DType::kU8},    {"INT8", DType::kI8},    {"UINT16", DType::kU16},
      {"INT16", DType::kI16}, {"INT32", DType::kI32},   {"INT64", DType::kI64},  {"STRING", DType::kString},
      {"BOOL", DType::kBool}, {"FLOAT16", DType::kF16}, {"DOUBLE", DType::kF64}, {"UINT32", DType::kU32},
      {"UINT64", DType::kU64}};
  for (const auto& [text, type] : kNames)
    if (name == text) return type;
  return n.Bad("attribute 'to' is '", name, "', not an element type");
}

AttrList CastAttrs(const OnnxNode& n, DType to) {
  AttrList attrs = {{"to", to}, {"saturate", n.Int("saturate", 1) != 0}};
  if (n.HasAttr("round_mode")) attrs.emplace_back("round_mode", n.Text("round_mode"));
  return attrs;
}

Status Cast(OnnxNode& n) {
  if (!n.HasAttr("to")) return n.Bad("attribute 'to' is missing");
  DType to = DType::kInvalid;
  if (n.opset < 6 && !n.Raw("to")->s().empty()) {
    TERN_ASSIGN(to, NamedType(n, n.Text("to")));
  } else {
    TERN_ASSIGN(to, n.DTypeAttr("to", DType::kF32));
  }
  n.Out(0, n.b.Op("Cast", {n.In(0)}, CastAttrs(n, to)));
  return {};
}

Status CastLike(OnnxNode& n) {
  TERN_TRY(Require(n, 1, kAnyType));
  n.Out(0, n.b.Op("Cast", {n.In(0)}, CastAttrs(n, n.TypeOf(1))));
  return {};
}

Status BitCast(OnnxNode& n) {
  TERN_ASSIGN(const DType to, n.DTypeAttr("to", DType::kInvalid));
  n.Out(0, n.b.Op("BitCast", {n.In(0)}, {{"to", to}}));
  return {};
}

}  // namespace

TERN_CONVERTERS(cast) {
  table.Add("Cast", Cast);
  table.Add("CastLike", CastLike);
  table.Add("BitCast", BitCast);
}

}  // namespace tern::onnx
