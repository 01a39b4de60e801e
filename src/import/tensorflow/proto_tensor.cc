#include "import/tensorflow/proto_tensor.h"

#include <cstring>
#include <vector>

namespace tern::tensorflow {
namespace {

constexpr int kReference = 100;
constexpr size_t kShared = 4096;  // contents of at least this size are not copied

// Writes `values` to t. TensorFlow omits trailing elements that equal the last one.
template <class T, class Values> Status Fill(const Values& values, int parts, Tensor& t) {
  const auto total = static_cast<size_t>(t.size());
  const auto given = static_cast<size_t>(values.size());
  if (given > total) return InvalidModel("a tensor ", t.Describe(), " has ", given, " values");
  if (given == 0) return {};  // all zeros
  if (given % static_cast<size_t>(parts) != 0) return InvalidModel("a complex tensor has half a value");
  T* out = t.data<T>();
  for (size_t i = 0; i < given; ++i) out[i] = static_cast<T>(values[static_cast<int>(i)]);
  for (size_t i = given; i < total; ++i) out[i] = out[i - static_cast<size_t>(parts)];
  return {};
}

Status FillStrings(const pb::TensorProto& proto, Tensor& t) {
  if (proto.string_val_size() > t.size())
    return InvalidModel("a tensor ", t.Describe(), " has ", proto.string_val_size(), " values");
  std::vector<std::string> values(proto.string_val().begin(), proto.string_val().end());
  if (!values.empty()) values.resize(static_cast<size_t>(t.size()), values.back());
  values.resize(static_cast<size_t>(t.size()));
  FromStrings(values, t);
  return {};
}

Status FillValues(const pb::TensorProto& proto, Tensor& t) {
  switch (proto.dtype() % kReference) {
    case pb::DT_FLOAT:
      return Fill<float>(proto.float_val(), 1, t);
    case pb::DT_DOUBLE:
      return Fill<double>(proto.double_val(), 1, t);
    case pb::DT_INT32:
    case pb::DT_QINT32:
      return Fill<int32_t>(proto.int_val(), 1, t);
    case pb::DT_UINT8:
    case pb::DT_QUINT8:
      return Fill<uint8_t>(proto.int_val(), 1, t);
    case pb::DT_INT16:
    case pb::DT_QINT16:
      return Fill<int16_t>(proto.int_val(), 1, t);
    case pb::DT_UINT16:
    case pb::DT_QUINT16:
      return Fill<uint16_t>(proto.int_val(), 1, t);
    case pb::DT_INT8:
    case pb::DT_QINT8:
      return Fill<int8_t>(proto.int_val(), 1, t);
    case pb::DT_INT64:
      return Fill<int64_t>(proto.int64_val(), 1, t);
    case pb::DT_UINT32:
      return Fill<uint32_t>(proto.uint32_val(), 1, t);
    case pb::DT_UINT64:
      return Fill<uint64_t>(proto.uint64_val(), 1, t);
    case pb::DT_BOOL:
      return Fill<uint8_t>(proto.bool_val(), 1, t);
    case pb::DT_HALF:
    case pb::DT_BFLOAT16:
      return Fill<uint16_t>(proto.half_val(), 1, t);
    case pb::DT_COMPLEX64:
      return Fill<float>(proto.scomplex_val(), 2, t);
    case pb::DT_COMPLEX128:
      return Fill<double>(proto.dcomplex_val(), 2, t);
    case pb::DT_STRING:
      return FillStrings(proto, t);
    default:
      return Unsupported("values of type ", DTypeText(proto.dtype()));
  }
}

}  // namespace

std::string DTypeText(int number) {
  if (pb::DataType_IsValid(number)) return pb::DataType_Name(static_cast<pb::DataType>(number));
  return StrCat("type ", number);
}

Result<DType> DTypeOf(int number) {
  switch (number > kReference ? number - kReference : number) {
    case pb::DT_FLOAT:
      return DType::kF32;
    case pb::DT_DOUBLE:
      return DType::kF64;
    case pb::DT_INT32:
    case pb::DT_QINT32:
      return DType::kI32;
    case pb::DT_UINT8:
    case pb::DT_QUINT8:
      return DType::kU8;
    case pb::DT_INT16:
    case pb::DT_QINT16:
      return DType::kI16;
    case pb::DT_UINT16:
    case pb::DT_QUINT16:
      return DType::kU16;
    case pb::DT_INT8:
    case pb::DT_QINT8:
      return DType::kI8;
    case pb::DT_STRING:
      return DType::kString;
    case pb::DT_COMPLEX64:
      return DType::kC64;
    case pb::DT_COMPLEX128:
      return DType::kC128;
    case pb::DT_INT64:
      return DType::kI64;
    case pb::DT_BOOL:
      return DType::kBool;
    case pb::DT_BFLOAT16:
      return DType::kBF16;
    case pb::DT_HALF:
      return DType::kF16;
    case pb::DT_UINT32:
      return DType::kU32;
    case pb::DT_UINT64:
      return DType::kU64;
    case pb::DT_FLOAT8_E5M2:
      return DType::kF8E5M2;
    case pb::DT_FLOAT8_E4M3FN:
      return DType::kF8E4M3FN;
    default:
      return Unsupported("the element type ", DTypeText(number), " is not supported");
  }
}

Result<Shape> ShapeOf(const pb::TensorShapeProto& proto) {
  if (proto.unknown_rank()) return Shape();
  std::vector<Dim> dims;
  for (const auto& d : proto.dim()) {
    if (d.size() < -1) return InvalidModel("a shape has the dim ", d.size());
    dims.push_back(d.size() < 0 ? Dim::Unknown() : Dim(d.size()));
  }
  return Shape(std::move(dims));
}

Result<Dims> DimsOf(const pb::TensorShapeProto& proto) {
  if (proto.unknown_rank()) return InvalidModel("a stored tensor has no rank");
  Dims dims;
  for (const auto& d : proto.dim()) {
    if (d.size() < 0) return InvalidModel("a stored tensor has the dim ", d.size());
    dims.push_back(d.size());
  }
  return dims;
}

Result<Tensor> TensorOf(const pb::TensorProto& proto, const std::shared_ptr<const void>& owner) {
  TERN_ASSIGN(DType dtype, DTypeOf(proto.dtype()));
  TERN_ASSIGN(Dims dims, DimsOf(proto.tensor_shape()));
  if (IsComplex(dtype)) {
    dims.push_back(2);
    dtype = dtype == DType::kC64 ? DType::kF32 : DType::kF64;
  }
  const auto count = CheckedCount(dims, dtype);
  if (!count) return InvalidModel("a tensor ", Describe(dtype, dims), " is too large");
  const std::string& content = proto.tensor_content();
  if (content.empty()) {
    // A few stored values may fill a large tensor, so the size is limited.
    constexpr uint64_t kMaxFilled = uint64_t{1} << 30;  // bytes
    const size_t text = proto.string_val_size() ? proto.string_val(proto.string_val_size() - 1).size() : 0;
    const uint64_t width = dtype == DType::kString ? sizeof(std::string) + text : BytesOf(dtype, 8) / 8 + 1;
    if (static_cast<uint64_t>(*count) > kMaxFilled / width)
      return InvalidModel("a tensor ", Describe(dtype, dims), " is too large");
    Tensor t(dtype, dims);
    TERN_TRY(FillValues(proto, t));
    return t;
  }
  if (dtype == DType::kString) return Unsupported("strings in tensor_content");
  if (content.size() != BytesOf(dtype, static_cast<size_t>(*count)))
    return InvalidModel("a tensor ", Describe(dtype, dims), " has ", content.size(), " bytes of content");
  if (content.size() >= kShared && owner && reinterpret_cast<uintptr_t>(content.data()) % 8 == 0)
    return Tensor::View(Buffer::Borrow(const_cast<char*>(content.data()), content.size(), owner), dtype,
                        dims);
  Tensor t(dtype, dims);
  std::memcpy(t.raw(), content.data(), content.size());
  return t;
}

}  // namespace tern::tensorflow
