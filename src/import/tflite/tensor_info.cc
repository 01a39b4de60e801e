#include "import/tflite/tensor_info.h"

#include <cmath>
#include <cstring>

namespace tern::tflite {
namespace {

constexpr DType kTypes[] = {DType::kF32,    DType::kF16,      DType::kI32,   DType::kU8,      DType::kI64,
                            DType::kString, DType::kBool,     DType::kI16,   DType::kC64,     DType::kI8,
                            DType::kF64,    DType::kC128,     DType::kU64,   DType::kInvalid, DType::kInvalid,
                            DType::kU32,    DType::kU16,      DType::kI4,    DType::kBF16,    DType::kI2,
                            DType::kU4,     DType::kF8E4M3FN, DType::kF8E5M2};
constexpr int kResource = 13, kVariant = 14;
constexpr size_t kMaxRank = 32;

Status ReadQuantization(const fb::QuantizationParameters& p, TensorInfo& info) {
  Quantization& q = info.quant;
  if (p.scale()) q.scales.assign(p.scale()->begin(), p.scale()->end());
  q.zeros = LongsOf(p.zero_point());
  q.axis = p.quantized_dimension();
  for (float s : q.scales)
    if (!(s >= 0) || !std::isfinite(s))
      return InvalidModel(info.Describe(), ": the scale ", s, " is negative or not finite");
  for (int64_t z : q.zeros)
    if (z != static_cast<int32_t>(z))
      return InvalidModel(info.Describe(), ": the zero point ", z, " does not fit into 32 bits");
  if (q.zeros.size() == 1 && q.scales.size() > 1) q.zeros.resize(q.scales.size(), q.zeros[0]);
  if (!q.zeros.empty() && !q.scales.empty() && q.zeros.size() != q.scales.size())
    return InvalidModel(info.Describe(), " has ", q.scales.size(), " scales, but ", q.zeros.size(),
                        " zero points");
  bool zero = true;
  for (int64_t z : q.zeros) zero = zero && z == 0;
  if (zero || q.scales.empty()) q.zeros.clear();
  const auto rank = static_cast<int>(info.dims.size());
  // Some converters copy the axis of a filter to its bias, which has only one axis.
  if (rank == 1) q.axis = 0;
  if (q.scales.size() > 1) {
    if (q.axis < 0 || q.axis >= rank ||
        info.dims[static_cast<size_t>(q.axis)] != static_cast<int64_t>(q.scales.size()))
      return InvalidModel(info.Describe(), " has ", q.scales.size(), " scales along axis ", q.axis);
  } else {
    q.axis = 0;
  }
  if (p.details_type() == fb::QuantizationDetails::NONE || !p.details()) return {};
  const auto* blocks = p.details_as_BlockwiseQuantization();
  if (!blocks) return Unsupported(info.Describe(), ": quantization of a kind that Tern does not know");
  q.block_size = blocks->block_size();
  q.block_scales = blocks->scales();
  q.block_zeros = blocks->zero_points();
  if (q.block_size < 1 || rank < 1 || info.dims.back() % q.block_size != 0)
    return InvalidModel(info.Describe(), ": blocks of ", q.block_size,
                        " elements do not divide its last dim");
  return {};
}

Result<Tensor> StringsOf(const Buffer& bytes, const TensorInfo& info) {
  const auto broken = [&] { return InvalidModel(info.Describe(), ": its table of strings is broken"); };
  const auto word = [&](size_t i) {
    uint32_t v;
    std::memcpy(&v, bytes.data() + 4 * i, 4);
    return static_cast<size_t>(v);
  };
  if (bytes.size() < 4) return broken();
  const size_t count = word(0);
  if (count > bytes.size() / 4 || (count + 2) * 4 > bytes.size()) return broken();
  const auto wanted = CheckedCount(info.dims, DType::kU8);
  if (!wanted || static_cast<size_t>(*wanted) != count)
    return InvalidModel(info.Describe(), " has ", count, " strings");
  std::vector<std::string> texts;
  size_t last = (count + 2) * 4;  // strings follow the table and each other, so they cannot overlap
  for (size_t i = 0; i < count; ++i) {
    const size_t begin = word(i + 1), end = word(i + 2);
    if (begin < last || begin > end || end > bytes.size()) return broken();
    last = end;
    texts.emplace_back(reinterpret_cast<const char*>(bytes.data()) + begin, end - begin);
  }
  return Tensor::Strings(info.dims, texts);
}

// Permutes elements that take one or more entire bytes.
template <class T> void CopyPermuted(const Tensor& from, const Dims& strides, Tensor& to) {
  const T* in = from.data<const T>();
  T* out = to.data<T>();
  const Dims& dims = to.dims();
  Dims at(dims.size(), 0);
  int64_t offset = 0;
  for (int64_t i = 0; i < to.size(); ++i) {
    out[i] = in[offset];
    for (size_t d = dims.size(); d-- > 0;) {
      offset += strides[d];
      if (++at[d] < dims[d]) break;
      offset -= strides[d] * dims[d];
      at[d] = 0;
    }
  }
}

}  // namespace

std::string TensorInfo::Describe() const {
  return StrCat("tensor '", name, "' ", resource ? "resource" : tern::Describe(dtype, dims));
}

Result<TensorInfo> InfoOf(const fb::Tensor& tensor) {
  TensorInfo info;
  info.tensor = &tensor;
  info.name = TextOf(tensor.name());
  info.dims = LongsOf(tensor.shape());
  info.signature = LongsOf(tensor.shape_signature());
  info.variable = tensor.is_variable();
  const int type = tensor.type();
  if (type < 0 || type >= static_cast<int>(std::size(kTypes)))
    return Unsupported("tensor '", info.name, "': element type #", type, " is not known");
  info.dtype = kTypes[type];
  info.resource = type == kResource || type == kVariant;
  if (info.signature.size() != info.dims.size()) info.signature = info.dims;
  if (info.dims.size() > kMaxRank)
    return Unsupported("tensor '", info.name, "' has ", info.dims.size(), " dims");
  for (size_t i = 0; i < info.dims.size(); ++i) {
    // Some converters write -1 for a dynamic dim into the shape, too.
    if (info.dims[i] == -1) info.dims[i] = 1, info.signature[i] = -1;
    if (info.dims[i] < 0) return InvalidModel("tensor '", info.name, "': dim ", i, " is ", info.dims[i]);
  }
  if (tensor.quantization()) TERN_TRY(ReadQuantization(*tensor.quantization(), info));
  const bool small = IsInt(info.dtype) && BitWidth(info.dtype) <= 16;
  info.quantized = small && (!info.quant.scales.empty() || info.quant.block_size > 0);
  return info;
}

Result<Tensor> ConstantOf(const Model& model, const TensorInfo& info) {
  TERN_ASSIGN(Buffer bytes, model.DataOf(*info.tensor));
  const auto count = info.dtype == DType::kInvalid ? std::nullopt : CheckedCount(info.dims, info.dtype);
  if (!count) return InvalidModel(info.Describe(), ": its size is out of range");
  if (!bytes.defined()) return *count == 0 && !info.resource ? Tensor(info.dtype, info.dims) : Tensor();
  if (info.dtype == DType::kString) return StringsOf(bytes, info);
  if (info.tensor->sparsity()) return Densify(*info.tensor->sparsity(), bytes, info);
  const size_t wanted = BytesOf(info.dtype, static_cast<size_t>(*count));
  if (wanted != bytes.size())
    return InvalidModel(info.Describe(), " needs ", wanted, " bytes, but its buffer has ", bytes.size());
  Tensor view = Tensor::View(bytes, info.dtype, info.dims);
  const size_t align = std::max<size_t>(1, static_cast<size_t>(BitWidth(info.dtype)) / 8);
  const bool share = model.shares_bytes() && reinterpret_cast<uintptr_t>(bytes.data()) % align == 0;
  Tensor t = share ? view : view.Clone();
  if (info.dtype != DType::kBool) return t;
  t = t.Clone();
  for (int64_t i = 0; i < t.size(); ++i) t.data<uint8_t>()[i] = t.data<uint8_t>()[i] != 0;
  return t;
}

Tensor Permuted(const Tensor& t, const std::vector<int64_t>& perm) {
  Dims dims, strides;
  int64_t last = -1;
  bool moves = false;
  for (int64_t p : perm) {
    dims.push_back(t.dim(static_cast<int>(p)));
    strides.push_back(t.strides()[static_cast<size_t>(p)]);
    if (dims.back() == 1) continue;
    moves = moves || p < last;
    last = p;
  }
  if (!moves) return t.Reshaped(dims);
  Tensor to(t.dtype(), dims);
  switch (BitWidth(t.dtype())) {
    case 8:
      CopyPermuted<uint8_t>(t, strides, to);
      break;
    case 16:
      CopyPermuted<uint16_t>(t, strides, to);
      break;
    case 32:
      CopyPermuted<uint32_t>(t, strides, to);
      break;
    default:
      CopyPermuted<uint64_t>(t, strides, to);
  }
  return to;
}

Tensor Widened(const Tensor& t) {
  if (BitWidth(t.dtype()) >= 8) return t;
  Tensor wide(IsSignedInt(t.dtype()) ? DType::kI8 : DType::kU8, t.dims());
  for (int64_t i = 0; i < t.size(); ++i) wide.data<int8_t>()[i] = static_cast<int8_t>(LoadLong(t, i));
  return wide;
}

}  // namespace tern::tflite
