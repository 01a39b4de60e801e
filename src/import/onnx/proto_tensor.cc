#include "import/onnx/proto_tensor.h"

#include <algorithm>
#include <cstring>

#include "base/thread_pool.h"
#include "core/mapped_files.h"
#include "import/onnx/external_data.h"

namespace tern::onnx {
namespace {

// kOnnxTypes[number] is the type with this number in ONNX's enum TensorProto.DataType.
constexpr DType kOnnxTypes[] = {
    DType::kInvalid,    DType::kF32,    DType::kU8,         DType::kI8,   DType::kU16,  DType::kI16,
    DType::kI32,        DType::kI64,    DType::kString,     DType::kBool, DType::kF16,  DType::kF64,
    DType::kU32,        DType::kU64,    DType::kC64,        DType::kC128, DType::kBF16, DType::kF8E4M3FN,
    DType::kF8E4M3FNUZ, DType::kF8E5M2, DType::kF8E5M2FNUZ, DType::kU4,   DType::kI4,   DType::kF4E2M1,
    DType::kF8E8M0,     DType::kU2,     DType::kI2};
constexpr int kOnnxTypeCount = sizeof kOnnxTypes / sizeof kOnnxTypes[0];

// Data of at least this many bytes is moved out of the message. Smaller data is copied.
constexpr size_t kWorthTaking = 1024;

Status WrongCount(const pb::TensorProto& p, int64_t wanted, int64_t got, const char* field) {
  return InvalidModel("tensor '", p.name(), "' needs ", wanted, " elements in ", field, ", but has ", got);
}

Status FillStrings(const pb::TensorProto& p, Tensor& t) {
  if (p.string_data_size() != t.size()) return WrongCount(p, t.size(), p.string_data_size(), "string_data");
  for (int i = 0; i < p.string_data_size(); ++i) t.data<std::string>()[i] = p.string_data(i);
  return {};
}

template <class Field, class Out> void CopyAs(const Field& field, void* out) {
  auto* to = static_cast<Out*>(out);
  for (int i = 0; i < field.size(); ++i) to[i] = static_cast<Out>(field[i]);
}

// Field int32_data stores all types of up to 32 bits except f32 and u32. An entry of a sub-byte type contains
// one byte of packed elements.
Status FillFromInt32(const pb::TensorProto& p, Tensor& t) {
  const int bits = BitWidth(t.dtype());
  const int64_t entries = bits < 8 ? static_cast<int64_t>(t.bytes()) : t.size();
  if (p.int32_data_size() != entries) return WrongCount(p, entries, p.int32_data_size(), "int32_data");
  if (bits <= 8)
    CopyAs<decltype(p.int32_data()), uint8_t>(p.int32_data(), t.raw());
  else if (bits == 16)
    CopyAs<decltype(p.int32_data()), uint16_t>(p.int32_data(), t.raw());
  else
    CopyAs<decltype(p.int32_data()), int32_t>(p.int32_data(), t.raw());
  return {};
}

Status FillTyped(const pb::TensorProto& p, Tensor& t) {
  const auto fill = [&](const auto& field, const char* name, int64_t parts) -> Status {
    if (field.size() != t.size() * parts) return WrongCount(p, t.size() * parts, field.size(), name);
    if (t.size()) std::memcpy(t.raw(), field.data(), t.bytes());
    return {};
  };
  switch (t.dtype()) {
    case DType::kString:
      return FillStrings(p, t);
    case DType::kF32:
      return fill(p.float_data(), "float_data", 1);
    case DType::kC64:
      return fill(p.float_data(), "float_data", 2);
    case DType::kF64:
      return fill(p.double_data(), "double_data", 1);
    case DType::kC128:
      return fill(p.double_data(), "double_data", 2);
    case DType::kI64:
      return fill(p.int64_data(), "int64_data", 1);
    case DType::kU64:
      return fill(p.uint64_data(), "uint64_data", 1);
    case DType::kU32:
      if (p.uint64_data_size() != t.size())
        return WrongCount(p, t.size(), p.uint64_data_size(), "uint64_data");
      CopyAs<decltype(p.uint64_data()), uint32_t>(p.uint64_data(), t.raw());
      return {};
    default:
      return FillFromInt32(p, t);
  }
}

Result<Tensor> FromRaw(const pb::TensorProto& p, DType dtype, Dims dims, const TensorSource& source) {
  if (dtype == DType::kString) return InvalidModel("tensor '", p.name(), "': strings cannot be raw bytes");
  const size_t wanted = BytesOf(dtype, static_cast<size_t>(CountOf(dims)));
  const size_t held = source.raw ? source.raw->SizeOf(p) : p.raw_data().size();
  if (held != wanted)
    return InvalidModel("tensor '", p.name(), "' ", Describe(dtype, dims), " needs ", wanted,
                        " bytes, but has ", held);
  if (source.raw && wanted >= kWorthTaking) return Tensor::View(source.raw->Take(p), dtype, std::move(dims));
  Tensor t(dtype, std::move(dims));
  if (wanted) std::memcpy(t.raw(), p.raw_data().data(), wanted);
  return t;
}

// Returns a copy of the data. Copies in blocks and releases the pages of the mapped file after each block.
Buffer CopyOf(const std::byte* data, size_t size, const Workers& workers) {
  constexpr size_t kBlock = size_t{1} << 20;
  Buffer out = Buffer::Allocate(size);
  workers.ParallelFor(static_cast<int64_t>((size + kBlock - 1) / kBlock), 1, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin) * kBlock; i < std::min(size, static_cast<size_t>(end) * kBlock);
         i += kBlock) {
      const size_t count = std::min(kBlock, size - i);
      std::memcpy(out.data() + i, data + i, count);
      DropMappedPages(data + i, count);
    }
  });
  return out;
}

}  // namespace

void RawBytes::Add(const pb::TensorProto& proto, const std::byte* data, size_t size) {
  elsewhere_[&proto] = {data, size};
}

bool RawBytes::Has(const pb::TensorProto& proto) const {
  return proto.has_raw_data() || elsewhere_.count(&proto) > 0;
}

size_t RawBytes::SizeOf(const pb::TensorProto& proto) const {
  if (const auto it = elsewhere_.find(&proto); it != elsewhere_.end()) return it->second.size;
  if (const auto it = taken_.find(&proto); it != taken_.end()) return it->second.size();
  return proto.raw_data().size();
}

Buffer RawBytes::Take(const pb::TensorProto& proto) {
  Buffer& taken = taken_[&proto];
  if (taken.defined()) return taken;
  if (const auto it = elsewhere_.find(&proto); it != elsewhere_.end())
    return taken = CopyOf(it->second.data, it->second.size, copiers_);
  auto text = std::make_shared<std::string>();
  const_cast<pb::TensorProto&>(proto).mutable_raw_data()->swap(*text);
  const bool aligned = reinterpret_cast<uintptr_t>(text->data()) % 16 == 0;
  taken = Buffer::Borrow(text->data(), text->size(), text);
  if (!aligned) taken = CopyOf(taken.data(), taken.size(), copiers_);
  return taken;
}

Result<DType> DTypeFromOnnx(int data_type) {
  if (data_type <= 0 || data_type >= kOnnxTypeCount)
    return InvalidModel("unknown element type number ", data_type);
  return kOnnxTypes[data_type];
}

int DTypeToOnnx(DType dtype) {
  for (int i = 0; i < kOnnxTypeCount; ++i)
    if (kOnnxTypes[i] == dtype) return i;
  return 0;
}

Result<Tensor> TensorFromOnnx(const pb::TensorProto& p, const TensorSource& source) {
  auto dtype = DTypeFromOnnx(p.data_type());
  if (!dtype.ok()) return InvalidModel("tensor '", p.name(), "': ", dtype.status().message());
  if (p.has_segment()) return Unsupported("tensor '", p.name(), "' is stored in segments");
  Dims dims(p.dims().begin(), p.dims().end());
  if (!CheckedCount(dims, *dtype))
    return InvalidModel("tensor '", p.name(), "' has impossible dims [", Join(dims, ","), "]");
  if (p.data_location() == pb::TensorProto::EXTERNAL) return ReadExternal(p, *dtype, std::move(dims), source);
  if (source.raw ? source.raw->Has(p) : p.has_raw_data()) return FromRaw(p, *dtype, std::move(dims), source);
  // Checks the size of the data fields before allocating, so that a small file cannot cause a large
  // allocation. An entry contains at most 4 elements, which then have 2 bits each.
  const int64_t held = p.float_data_size() + p.int32_data_size() + p.string_data_size() +
                       p.int64_data_size() + p.double_data_size() + p.uint64_data_size();
  if (CountOf(dims) > 0 && CountOf(dims) / 4 > held)
    return WrongCount(p, CountOf(dims), held, "its data fields");
  Tensor t(*dtype, std::move(dims));
  TERN_TRY(FillTyped(p, t));
  return t;
}

// Returns the linear, row-major index of one value. If `width` is 1, `at` points to the linear index.
// Otherwise `at` points to one index per axis.
Result<int64_t> SparsePosition(const int64_t* at, size_t width, const Dims& dims, int64_t count) {
  int64_t position = 0;
  for (size_t d = 0; d < width; ++d) {
    const int64_t limit = width == dims.size() ? dims[d] : count;
    if (at[d] < 0 || at[d] >= limit) return InvalidModel("index ", at[d], " is outside [0, ", limit, ")");
    position = position * limit + at[d];
  }
  return position;
}

// Converts a sparse tensor in COO format to a dense tensor. The indices of the sparse tensor are linear or
// per axis.
Result<Tensor> SparseFromOnnx(const pb::SparseTensorProto& p, const TensorSource& source) {
  TERN_ASSIGN(Tensor values, TensorFromOnnx(p.values(), source));
  TERN_ASSIGN(Tensor indices, TensorFromOnnx(p.indices(), source));
  Dims dims(p.dims().begin(), p.dims().end());
  const auto count = CheckedCount(dims, values.dtype());
  // Limits the dense size to a multiple of the stored size, so that a small file cannot cause a large
  // allocation.
  const int64_t max_count = std::max<int64_t>(int64_t{1} << 22, values.size() * 4096);
  if (!count || *count > max_count)
    return InvalidModel("sparse tensor '", p.values().name(), "' is too large when dense: dims [",
                        Join(dims, ","), "] for ", values.size(), " values");
  if (BitWidth(values.dtype()) < 8 || values.dtype() == DType::kString)
    return Unsupported("sparse tensor '", p.values().name(), "' of ", DTypeName(values.dtype()));
  if (indices.dtype() != DType::kI64)
    return InvalidModel("sparse tensor '", p.values().name(), "' has indices ", indices.Describe());
  const auto at = ToLongs(indices);
  const size_t width = indices.rank() == 1 ? 1 : dims.size();
  if (at.size() != static_cast<size_t>(values.size()) * width)
    return InvalidModel("sparse tensor '", p.values().name(), "' has ", values.size(), " values and ",
                        at.size(), " indices");
  Tensor out(values.dtype(), dims);
  const size_t bytes = BytesOf(values.dtype(), 1);
  for (int64_t i = 0; i < values.size(); ++i) {
    auto offset = SparsePosition(at.data() + static_cast<size_t>(i) * width, width, dims, *count);
    if (!offset.ok())
      return InvalidModel("sparse tensor '", p.values().name(), "': ", offset.status().message());
    std::memcpy(out.data<char>() + static_cast<size_t>(*offset) * bytes,
                values.data<char>() + static_cast<size_t>(i) * bytes, bytes);
  }
  return out;
}

Result<Datum> SequenceFromOnnx(const pb::SequenceProto& p) {
  DatumList items;
  for (const auto& t : p.tensor_values()) {
    TERN_ASSIGN(Tensor tensor, TensorFromOnnx(t, {}));
    items.emplace_back(std::move(tensor));
  }
  for (const auto& s : p.sequence_values()) {
    TERN_ASSIGN(Datum d, SequenceFromOnnx(s));
    items.push_back(std::move(d));
  }
  for (const auto& o : p.optional_values()) {
    TERN_ASSIGN(Datum d, OptionalFromOnnx(o));
    items.push_back(std::move(d));
  }
  for (const auto& m : p.map_values()) {
    TERN_ASSIGN(Datum d, MapFromOnnx(m));
    items.push_back(std::move(d));
  }
  return Datum::SequenceOf(std::move(items));
}

Result<Datum> MapFromOnnx(const pb::MapProto& p) {
  TERN_ASSIGN(Datum values, SequenceFromOnnx(p.values()));
  Tensor keys = p.string_keys_size() ? Tensor::Strings({p.string_keys_size()},
                                                       {p.string_keys().begin(), p.string_keys().end()})
                                     : Tensor::Ints({p.keys().begin(), p.keys().end()});
  const DatumList& items = *values.sequence;
  if (static_cast<int64_t>(items.size()) != keys.size())
    return InvalidModel("a map has ", keys.size(), " keys and ", items.size(), " values");
  return Datum::MapOf(std::move(keys), items);
}

Result<Datum> OptionalFromOnnx(const pb::OptionalProto& p) {
  if (p.has_sequence_value()) return SequenceFromOnnx(p.sequence_value());
  if (p.has_optional_value()) return OptionalFromOnnx(p.optional_value());
  if (!p.has_tensor_value()) return Datum::None();
  TERN_ASSIGN(Tensor t, TensorFromOnnx(p.tensor_value(), {}));
  return Datum(std::move(t));
}

void TensorToOnnx(const Tensor& tensor, pb::TensorProto& p) {
  const Tensor t = tensor.Contiguous();
  p.set_data_type(DTypeToOnnx(t.dtype()));
  for (int64_t d : t.dims()) p.add_dims(d);
  if (t.dtype() == DType::kString) {
    for (const std::string& s : ToStrings(t)) p.add_string_data(s);
  } else {
    p.set_raw_data(t.raw(), t.bytes());
  }
}

}  // namespace tern::onnx
