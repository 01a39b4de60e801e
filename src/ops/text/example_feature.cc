// ExampleFeature: reads one feature of tf.Example records.
#include <cstring>
#include <optional>
#include <string_view>

#include "ir/eval_context.h"
#include "ir/infer_context.h"
#include "ops/text/example_record.h"

namespace tern {
namespace {

struct ExampleFeature {
  std::string key;
  DType to = DType::kF32;
  std::vector<int64_t> shape;
  template <class V> void Visit(V& v) {
    v("key", key, "the name of the feature");
    v("to", to, "the type of y: f32, i64 or string");
    v("shape", shape, "the dims of the feature in one record");
  }
};

int64_t ValuesOf(const ExampleFeature& op) {
  int64_t count = 1;
  for (const int64_t dim : op.shape)
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) return -1;
  return count;
}

Status Infer(const ExampleFeature& op, InferContext& c) {
  if (op.to != DType::kF32 && op.to != DType::kI64 && op.to != DType::kString)
    return InvalidModel("a feature is f32, i64 or string, not ", DTypeName(op.to));
  if (ValuesOf(op) < 0) return InvalidModel("shape [", Join(op.shape, ","), "] is not a shape");
  if (c.Has("default") && c.TypeOf("default") != op.to)
    return InvalidModel("the default has type ", DTypeName(c.TypeOf("default")), ", the feature has type ",
                        DTypeName(op.to));
  Shape y = c.ShapeOf("x");
  if (y.ranked) y.dims.insert(y.dims.end(), op.shape.begin(), op.shape.end());
  c.Out("y", op.to, std::move(y));
  return {};
}

template <class T> void CopyDefault(const Tensor& values, int64_t count, T* to) {
  const T* from = values.data<T>();
  for (int64_t i = 0; i < count; ++i) to[i] = from[values.size() == 1 ? 0 : i];
}

// Writes the feature of one record to y, from element `at`.
Status ReadRecord(const ExampleFeature& op, const std::string& record, int64_t count, const Tensor* standard,
                  int64_t at, Tensor& y) {
  TERN_ASSIGN(const std::optional<FeatureValues> found, FindFeature(record, op.key));
  const bool floats = op.to == DType::kF32, integers = op.to == DType::kI64;
  if (!found) {
    if (!standard)
      return InvalidArgument("Feature: ", op.key, " (data type: ", DTypeName(op.to),
                             ") is required but could not be found.");
    if (floats)
      CopyDefault(*standard, count, y.data<float>() + at);
    else if (integers)
      CopyDefault(*standard, count, y.data<int64_t>() + at);
    else
      CopyDefault(*standard, count, y.data<std::string>() + at);
    return {};
  }
  if (found->kind != op.to)
    return InvalidArgument("Key: ", op.key, ".  Data types don't match. Data type: ", DTypeName(found->kind),
                           " but expected type: ", DTypeName(op.to));
  if (static_cast<int64_t>(found->size()) != count)
    return InvalidArgument("Key: ", op.key, ".  Number of ", DTypeName(op.to),
                           " values != expected.  Values size: ", found->size(), " but output shape: [",
                           Join(op.shape, ","), "]");
  if (floats)
    std::copy(found->floats.begin(), found->floats.end(), y.data<float>() + at);
  else if (integers)
    std::copy(found->integers.begin(), found->integers.end(), y.data<int64_t>() + at);
  else
    std::copy(found->texts.begin(), found->texts.end(), y.data<std::string>() + at);
  return {};
}

Status Reference(const ExampleFeature& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  const int64_t count = ValuesOf(op);
  const Tensor* standard = c.Has("default") ? &c.In("default") : nullptr;
  if (standard && standard->size() != count && standard->size() != 1)
    return InvalidArgument("the default of feature '", op.key, "' has ", standard->size(),
                           " values, expected 1 or ", count);
  Dims dims = x.dims();
  dims.insert(dims.end(), op.shape.begin(), op.shape.end());
  if (!CheckedCount(dims, op.to))
    return ResourceExhausted("feature '", op.key, "' of ", x.size(), " records has too many values");
  Tensor& y = c.Out("y", dims);
  for (int64_t i = 0; i < x.size(); ++i)
    TERN_TRY(ReadRecord(op, x.data<std::string>()[i], count, standard, i * count, y)
                 .While(StrCat("reading record ", i)));
  return {};
}

}  // namespace

TERN_OP(ExampleFeature) {
  return OpDef::Of<ExampleFeature>(
             "the values of one feature of each serialized tf.Example record. A record without the feature "
             "has the default, which is one value or all values; without a default it is an error")
      .In("x", kStrings)
      .OptIn("default", SetOf(DType::kF32) | SetOf(DType::kI64) | kStrings)
      .Out("y", SetOf(DType::kF32) | SetOf(DType::kI64) | kStrings)
      .Traits(kPure | kHostOnly)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
