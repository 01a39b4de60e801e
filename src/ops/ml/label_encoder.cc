// LabelEncoder: replaces each element by the value of the matching key.
#include <cmath>
#include <cstring>
#include <map>

#include "ir/eval_context.h"
#include "ir/infer_context.h"
#include "ops/elementwise/broadcast.h"

namespace tern {
namespace {

struct LabelEncoder {
  Tensor keys, values, otherwise;
  bool strict = false;
  template <class V> void Visit(V& v) {
    v("keys", keys, "a vector of x's type; if two keys are equal, the last one counts");
    v("values", values, "the replacement of each key, a vector of the same length");
    v("otherwise", otherwise, "one element, the replacement of elements that match no key");
    v("strict", strict, "an element that matches no key is an error");
  }
};

Status Check(const LabelEncoder& op) {
  if (!op.keys.defined() || !op.values.defined() || !op.otherwise.defined())
    return InvalidModel("keys, values or otherwise are missing");
  if (op.keys.rank() != 1 || op.values.rank() != 1 || op.keys.size() != op.values.size())
    return InvalidModel("keys ", op.keys.Describe(), " and values ", op.values.Describe(),
                        " must be vectors of the same length");
  if (op.otherwise.size() != 1 || op.otherwise.dtype() != op.values.dtype())
    return InvalidModel("otherwise must be one ", DTypeName(op.values.dtype()), ", got ",
                        op.otherwise.Describe());
  return {};
}

Status Infer(const LabelEncoder& op, InferContext& c) {
  TERN_TRY(Check(op));
  const DType x = c.TypeOf("x");
  if (x != DType::kInvalid && x != op.keys.dtype())
    return InvalidModel("x is ", DTypeName(x), ", but the keys are ", DTypeName(op.keys.dtype()));
  c.Out("y", op.values.dtype(), c.ShapeOf("x"));
  return {};
}

// Returns a text that identifies the value of an element. Equal elements have equal texts. All NaNs have the
// same text, and so do -0 and +0.
std::string KeyOf(const Tensor& t, int64_t i) {
  if (t.dtype() == DType::kString) return t.data<std::string>()[i];
  char bytes[8];
  if (IsFloat(t.dtype())) {
    double v = LoadDouble(t, i);
    if (std::isnan(v)) return "nan";
    v += 0.0;
    std::memcpy(bytes, &v, sizeof v);
  } else {
    const int64_t v = LoadLong(t, i);
    std::memcpy(bytes, &v, sizeof v);
  }
  return std::string(bytes, sizeof bytes);
}

Status Reference(const LabelEncoder& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  const Tensor keys = op.keys.Contiguous(), values = op.values.Contiguous();
  std::map<std::string, int64_t> places;
  for (int64_t i = 0; i < keys.size(); ++i) places[KeyOf(keys, i)] = i;
  Tensor& y = c.Out("y", x.dims());
  for (int64_t i = 0; i < x.size(); ++i) {
    const auto found = places.find(KeyOf(x, i));
    if (found == places.end() && op.strict)
      return InvalidArgument("element ", i, " of x matches none of the ", keys.size(), " keys");
    if (found == places.end())
      CopyElement(op.otherwise, 0, y, i);
    else
      CopyElement(values, found->second, y, i);
  }
  return {};
}

}  // namespace

TERN_OP(LabelEncoder) {
  return OpDef::Of<LabelEncoder>("replaces each element of x by the value of the matching key")
      .In("x", kNumbers | kBools | kStrings)
      .Out("y", kAnyType)
      .Flops(No{"a search has no arithmetic"})
      .Batch(kNoKernel)
      .Axes(kNoKernel)
      .Half(HalfRule::kWiden)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
