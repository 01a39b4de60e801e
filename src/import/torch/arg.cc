#include "import/torch/arg.h"

#include "import/torch/tensors.h"

namespace tern::torch {

Arg Arg::Of(TensorPtr v) {
  Arg a;
  a.kind = Kind::kTensor;
  a.tensor = std::move(v);
  return a;
}

Arg Arg::Int(int64_t v) {
  Arg a;
  a.kind = Kind::kInt;
  a.integer = v;
  return a;
}

Arg Arg::Float(double v) {
  Arg a;
  a.kind = Kind::kFloat;
  a.real = v;
  return a;
}

Arg Arg::Bool(bool v) {
  Arg a;
  a.kind = Kind::kBool;
  a.integer = v;
  return a;
}

Arg Arg::String(std::string v) {
  Arg a;
  a.kind = Kind::kString;
  a.text = std::move(v);
  return a;
}

Arg Arg::Type(DType v) {
  Arg a;
  a.kind = Kind::kDType;
  a.dtype = v;
  return a;
}

Arg Arg::Device(std::string v) {
  Arg a;
  a.kind = Kind::kDevice;
  a.text = std::move(v);
  return a;
}

Arg Arg::Layout() {
  Arg a;
  a.kind = Kind::kLayout;
  return a;
}

Arg Arg::Format(MemoryFormat v) {
  Arg a;
  a.kind = Kind::kMemoryFormat;
  a.format = v;
  return a;
}

Arg Arg::List(std::vector<Arg> v) {
  Arg a;
  a.kind = Kind::kList;
  a.items = std::move(v);
  return a;
}

Arg Arg::Ints(const std::vector<int64_t>& v) {
  std::vector<Arg> items;
  items.reserve(v.size());
  for (int64_t i : v) items.push_back(Int(i));
  return List(std::move(items));
}

Arg Arg::Computed(Value* scalar) {
  const DType t = scalar->type.dtype;
  Arg a;
  a.kind = t == DType::kBool ? Kind::kBool : IsFloat(t) ? Kind::kFloat : Kind::kInt;
  if (scalar->is_constant() && scalar->constant.size() == 1) {
    if (a.kind == Kind::kFloat)
      a.real = LoadDouble(scalar->constant.Contiguous(), 0);
    else
      a.integer = LoadLong(scalar->constant.Contiguous(), 0);
    return a;
  }
  if (a.kind == Kind::kInt && scalar->content && scalar->content->size() == 1 &&
      scalar->content->front().known())
    return Int(scalar->content->front().value());
  a.value = scalar;
  return a;
}

std::string Arg::Describe() const {
  switch (kind) {
    case Kind::kNone:
      return "None";
    case Kind::kTensor:
      return StrCat("a tensor ", tensor->type().ToString());
    case Kind::kInt:
      return value ? std::string("a computed int") : StrCat("the int ", integer);
    case Kind::kFloat:
      return value ? std::string("a computed float") : StrCat("the float ", real);
    case Kind::kBool:
      return value ? std::string("a computed bool") : integer ? "True" : "False";
    case Kind::kString:
      return StrCat("the string ", QuoteText(text));
    case Kind::kDType:
      return StrCat("the type ", DTypeName(dtype));
    case Kind::kDevice:
      return "a device";
    case Kind::kLayout:
      return "a layout";
    case Kind::kMemoryFormat:
      return "a memory format";
    case Kind::kList:
      return StrCat("a list of ", items.size());
  }
  return "?";
}

}  // namespace tern::torch
