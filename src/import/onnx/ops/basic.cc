// Converts Constant, Identity and Reshape.
#include "import/onnx/converter.h"

namespace tern::onnx {
namespace {

Status Constant(OnnxNode& n) {
  Tensor value;
  if (n.HasAttr("value") || n.HasAttr("sparse_value")) {
    TERN_ASSIGN(value, n.TensorAttr(n.HasAttr("value") ? "value" : "sparse_value"));
  } else if (n.HasAttr("value_float")) {
    value = Tensor::Scalar(DType::kF32, n.Float("value_float"));
  } else if (n.HasAttr("value_int")) {
    value = Tensor(DType::kI64, {});
    value.data<int64_t>()[0] = n.Int("value_int");
  } else if (n.HasAttr("value_string")) {
    value = Tensor::Strings({}, {n.Text("value_string")});
  } else if (n.HasAttr("value_floats")) {
    const auto v = n.Floats("value_floats");
    value = Tensor::Of(DType::kF32, {static_cast<int64_t>(v.size())}, {v.begin(), v.end()});
  } else if (n.HasAttr("value_ints")) {
    value = Tensor::Ints(n.Ints("value_ints"));
  } else if (n.HasAttr("value_strings")) {
    const auto v = n.Texts("value_strings");
    value = Tensor::Strings({static_cast<int64_t>(v.size())}, v);
  } else {
    return n.Bad("none of the attributes value* is present");
  }
  n.Out(0, n.b.Const(std::move(value)));
  return {};
}

Status Reshape(OnnxNode& n) {
  Value* shape = n.opset >= 5 ? n.In(1) : n.b.Ints(n.Ints("shape"));
  n.Out(0, n.b.Op("Reshape", {n.In(0), shape}, {{"allow_zero", n.Int("allowzero") != 0}}));
  return {};
}

}  // namespace

TERN_CONVERTERS(basic) {
  table.Add("Constant", Constant);
  table.Add("Identity", Direct("Identity"));
  table.Add("Reshape", Reshape);
}

}  // namespace tern::onnx
