#include "import/mindir/proto_tensor.h"

#include <algorithm>
#include <cstring>

#include "core/mapped_files.h"

namespace tern::mindir {
namespace {

// kTypes[number] is the type with this number in TensorProto.DataType.
constexpr DType kTypes[] = {DType::kInvalid, DType::kF32,  DType::kU8,  DType::kI8,     DType::kU16,
                            DType::kI16,     DType::kI32,  DType::kI64, DType::kString, DType::kBool,
                            DType::kF16,     DType::kF64,  DType::kU32, DType::kU64,    DType::kC64,
                            DType::kC128,    DType::kBF16, DType::kF64};
constexpr int kTypeCount = sizeof kTypes / sizeof kTypes[0];

constexpr int64_t kFirstTypeId = 30;
// kTypeIds[id - kFirstTypeId] is the type with this number in TypeId.
constexpr DType kTypeIds[] = {DType::kBool, DType::kI32, DType::kI8,  DType::kI16, DType::kI32, DType::kI64,
                              DType::kU32,  DType::kU8,  DType::kU16, DType::kU32, DType::kU64, DType::kF32,
                              DType::kF16,  DType::kF32, DType::kF64, DType::kBF16};
constexpr int64_t kTypeIdCount = sizeof kTypeIds / sizeof kTypeIds[0];
constexpr int64_t kComplex64Id = 51, kComplex128Id = 52;

constexpr int kMaxRank = 64;

Result<Dims> DimsOf(const pb::TensorProto& p, DType dtype) {
  if (p.dims_size() > kMaxRank)
    return InvalidModel("tensor '", p.name(), "' has ", p.dims_size(), " dims, more than ", kMaxRank);
  Dims dims(p.dims().begin(), p.dims().end());
  if (!CheckedCount(dims, dtype))
    return InvalidModel("tensor '", p.name(), "' has a wrong shape: [", Join(dims, ","), "]");
  return dims;
}

// The first byte of an external file is 1 if its numbers are little-endian.
Result<Tensor> FromFile(const pb::TensorProto& p, DType dtype, Dims dims, import::ExternalFiles* files) {
  const std::string& location = p.external_data().location();
  if (!files)
    return InvalidModel("the data of tensor '", p.name(), "' is in the file '", location,
                        "', but a model in memory cannot have external data");
  TERN_ASSIGN(Buffer file, files->Map(location, p.name()));
  const size_t wanted = BytesOf(dtype, static_cast<size_t>(CountOf(dims)));
  const int64_t offset = p.external_data().offset(), length = p.external_data().length();
  if (length < 0 || static_cast<size_t>(length) != wanted)
    return InvalidModel("tensor '", p.name(), "' ", Describe(dtype, dims), " needs ", wanted,
                        " bytes, but the length of its external data is ", length);
  if (offset < 0 || static_cast<size_t>(offset) > file.size() ||
      wanted > file.size() - static_cast<size_t>(offset))
    return InvalidModel("tensor '", p.name(), "' needs ", wanted, " bytes at ", offset, " of '", location,
                        "', which has ", file.size());
  if (const int order = std::to_integer<int>(file.data()[0]); wanted && order != 1)
    return Unsupported("the data file '", location, "' is ",
                       order == 0 ? "big-endian" : "encrypted or damaged");
  Buffer bytes = file.Slice(static_cast<size_t>(offset), wanted);
  const size_t align = std::max<size_t>(1, static_cast<size_t>(BitWidth(dtype)) / 8);
  Tensor view = Tensor::View(bytes, dtype, std::move(dims));
  return reinterpret_cast<uintptr_t>(bytes.data()) % align == 0 ? view : view.Clone();
}

}  // namespace

Result<DType> DTypeFromMindir(int data_type) {
  if (data_type > 0 && data_type < kTypeCount) return kTypes[data_type];
  return Unsupported("data type ", data_type, " is unknown");
}

Result<DType> DTypeFromTypeId(int64_t id) {
  if (id >= kFirstTypeId && id < kFirstTypeId + kTypeIdCount) return kTypeIds[id - kFirstTypeId];
  if (id == kComplex64Id) return DType::kC64;
  if (id == kComplex128Id) return DType::kC128;
  return Unsupported("type id ", id, " is unknown");
}

namespace {

struct Described {
  DType dtype = DType::kInvalid;
  Dims dims;
};

Result<Described> Describe(const pb::TensorProto& p) {
  auto dtype = DTypeFromMindir(p.data_type());
  if (!dtype.ok()) return Unsupported("tensor '", p.name(), "': ", dtype.status().message());
  if (*dtype == DType::kString) return Unsupported("tensor '", p.name(), "' is of strings");
  if (p.compression_type() != 0)
    return Unsupported("tensor '", p.name(), "' is compressed (compression_type ", p.compression_type(), ")");
  TERN_ASSIGN(Dims dims, DimsOf(p, *dtype));
  return Described{*dtype, std::move(dims)};
}

Status CheckSize(const pb::TensorProto& p, const Described& tensor, size_t held) {
  const size_t wanted = BytesOf(tensor.dtype, static_cast<size_t>(CountOf(tensor.dims)));
  if (held == wanted) return {};
  return InvalidModel("tensor '", p.name(), "' ", tern::Describe(tensor.dtype, tensor.dims), " needs ",
                      wanted, " bytes, but has ", held);
}

// Copies in blocks, and releases the pages of a mapped file after each block.
Buffer CopyOf(const Buffer& bytes) {
  constexpr size_t kBlock = size_t{4} << 20;
  Buffer out = Buffer::Allocate(bytes.size());
  for (size_t i = 0; i < bytes.size(); i += kBlock) {
    const size_t count = std::min(kBlock, bytes.size() - i);
    std::memcpy(out.data() + i, bytes.data() + i, count);
    DropMappedPages(bytes.data() + i, count);
  }
  return out;
}

}  // namespace

Result<Tensor> TensorFromBytes(const pb::TensorProto& p, const Buffer& bytes, bool share) {
  TERN_ASSIGN(Described tensor, Describe(p));
  if (p.has_external_data())
    return InvalidModel("tensor '", p.name(), "' has data in the file and external data");
  TERN_TRY(CheckSize(p, tensor, bytes.size()));
  const size_t align = std::max<size_t>(1, static_cast<size_t>(BitWidth(tensor.dtype)) / 8);
  const bool aligned = reinterpret_cast<uintptr_t>(bytes.data()) % align == 0;
  return Tensor::View(share && aligned ? bytes : CopyOf(bytes), tensor.dtype, std::move(tensor.dims));
}

Result<Tensor> TensorFromMindir(const pb::TensorProto& p, import::ExternalFiles* files) {
  TERN_ASSIGN(Described tensor, Describe(p));
  if (p.has_external_data()) return FromFile(p, tensor.dtype, std::move(tensor.dims), files);
  TERN_TRY(CheckSize(p, tensor, p.raw_data().size()));
  Tensor t(tensor.dtype, std::move(tensor.dims));
  if (t.bytes()) std::memcpy(t.raw(), p.raw_data().data(), t.bytes());
  return t;
}

Result<Type> TypeFromMindir(const pb::TensorProto& p, const std::string& prefix) {
  TERN_ASSIGN(DType dtype, DTypeFromMindir(p.data_type()));
  if (p.dims_size() > kMaxRank) return InvalidModel(p.dims_size(), " dims are more than ", kMaxRank);
  if (p.dims_size() == 1 && p.dims(0) == -2) return Type::TensorOf(dtype);
  std::vector<Dim> dims;
  for (int i = 0; i < p.dims_size(); ++i) {
    if (p.dims(i) < -1) return InvalidModel("dim ", i, " is ", p.dims(i));
    if (p.dims(i) >= 0)
      dims.emplace_back(p.dims(i));
    else
      dims.push_back(prefix.empty() ? Dim::Unknown() : Dim::Symbol(StrCat(prefix, "_", i)));
  }
  return Type::TensorOf(dtype, Shape(std::move(dims)));
}

}  // namespace tern::mindir
