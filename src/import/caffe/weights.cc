#include "import/caffe/weights.h"

#include <cstring>

#include "core/mapped_files.h"
#include "import/caffe/wire.h"

namespace tern::caffe {
namespace {

constexpr uint64_t kLayer = 100, kV1Layer = 2;          // fields of NetParameter
constexpr uint64_t kBlobs = 7, kName = 1;               // fields of LayerParameter
constexpr uint64_t kV1Blobs = 6, kV1Name = 4, kV0 = 1;  // fields of V1LayerParameter
constexpr uint64_t kV0Blobs = 50, kV0Name = 1;          // fields of V0LayerParameter
constexpr size_t kMaxAxes = 32;                         // Caffe's limit

Status Broken(const char* what) {
  return InvalidModel("the file is not a .caffemodel, or is damaged: ", what, " is broken or cut short");
}

Status ReadShape(std::string_view message, Dims& dims) {
  WireField field;
  while (!message.empty()) {
    if (!TakeField(message, field)) return Broken("the shape of a blob");
    if (field.number != 1) continue;
    if (field.wire == Wire::kVarint) dims.push_back(static_cast<int64_t>(field.value));
    for (std::string_view packed = field.bytes; !packed.empty();) {
      uint64_t dim = 0;
      if (!TakeVarint(packed, dim) || dims.size() > kMaxAxes) return Broken("the shape of a blob");
      dims.push_back(static_cast<int64_t>(dim));
    }
    if (dims.size() > kMaxAxes) return Broken("the shape of a blob");
  }
  return {};
}

// Adds a piece of a blob's data. Usually there is one packed piece.
void AddData(Blob& blob, DType dtype, std::string_view bytes) {
  blob.dtype = dtype;
  if (blob.data().empty()) {
    blob.bytes = bytes;
    return;
  }
  if (blob.loose.empty()) blob.loose = blob.bytes;
  blob.loose += bytes;
  blob.bytes = {};
}

Result<DType> RawType(uint64_t number) {
  if (number == 0) return DType::kF64;
  if (number == 1) return DType::kF32;
  if (number == 2) return DType::kF16;
  return Unsupported("a blob stores its data in type ", number,
                     "; only double, float and float16 are weights");
}

size_t SizeOf(DType dtype) { return static_cast<size_t>(BitWidth(dtype)) / 8; }

}  // namespace

Status Weights::AddBlob(std::string_view message, std::vector<Blob>& blobs) const {
  Blob blob;
  bool shaped = false;
  DType raw = DType::kF32;
  Dims legacy(4, 0);
  WireField field;
  while (!message.empty()) {
    if (!TakeField(message, field)) return Broken("a blob");
    const bool data =
        field.wire == Wire::kBytes || field.wire == Wire::kFixed32 || field.wire == Wire::kFixed64;
    if (field.number >= 1 && field.number <= 4 && field.wire == Wire::kVarint) {
      legacy[field.number - 1] = static_cast<int64_t>(field.value);
    } else if (field.number == 7 && field.wire == Wire::kBytes) {
      shaped = true;
      TERN_TRY(ReadShape(field.bytes, blob.dims));
    } else if (field.number == 5 && data) {
      AddData(blob, DType::kF32, field.bytes);
    } else if (field.number == 8 && data) {
      AddData(blob, DType::kF64, field.bytes);
    } else if (field.number == 10 && field.wire == Wire::kVarint) {
      TERN_ASSIGN(raw, RawType(field.value));
    } else if (field.number == 12 && field.wire == Wire::kBytes) {
      AddData(blob, DType::kInvalid, field.bytes);
    }
  }
  if (blob.dtype == DType::kInvalid) blob.dtype = raw;
  if (!shaped) blob.dims = legacy;
  blobs.push_back(std::move(blob));
  return {};
}

// Stores the blobs of a layer, and appends the other fields to the network.
Status Weights::AddLayer(std::string_view message, uint64_t kind) {
  const uint64_t blobs_field = kind == kLayer ? kBlobs : kV1Blobs;
  const uint64_t name_field = kind == kLayer ? kName : kV1Name;
  std::string name, rest;
  std::vector<Blob> blobs;
  WireField field;
  while (!message.empty()) {
    if (!TakeField(message, field)) return Broken("a layer");
    if (field.wire == Wire::kBytes && field.number == blobs_field) {
      TERN_TRY(AddBlob(field.bytes, blobs).While(StrCat("reading the weights of layer '", name, "'")));
      continue;
    }
    if (field.wire == Wire::kBytes && field.number == name_field) name = field.bytes;
    if (kind == kLayer || field.number != kV0 || field.wire != Wire::kBytes) {
      rest += field.whole;
      continue;
    }
    std::string old;
    WireField inner;
    for (std::string_view left = field.bytes; !left.empty();) {
      if (!TakeField(left, inner)) return Broken("a layer");
      if (inner.wire == Wire::kBytes && inner.number == kV0Blobs) {
        TERN_TRY(AddBlob(inner.bytes, blobs).While(StrCat("reading the weights of layer '", name, "'")));
        continue;
      }
      if (inner.wire == Wire::kBytes && inner.number == kV0Name) name = inner.bytes;
      old += inner.whole;
    }
    AppendField(rest, kV0, old);
  }
  AppendField(network_, kind, rest);
  layers_.emplace(std::move(name), std::move(blobs));
  return {};
}

Result<Weights> Weights::Read(Buffer file, std::string path) {
  Weights weights;
  weights.file_ = std::move(file);
  weights.path_ = std::move(path);
  std::string_view message(reinterpret_cast<const char*>(weights.file_.data()), weights.file_.size());
  if (message.substr(0, 8) == std::string_view("\x89HDF\r\n\x1a\n"))
    return Unsupported(
        "the weights are an HDF5 file; Tern reads binary .caffemodel files. Load it in Caffe and save it with Net::Save");
  WireField field;
  while (!message.empty()) {
    if (!TakeField(message, field)) return Broken("the network");
    if (field.wire == Wire::kBytes && (field.number == kLayer || field.number == kV1Layer))
      TERN_TRY(weights.AddLayer(field.bytes, field.number));
    else
      weights.network_ += field.whole;
  }
  return weights;
}

const std::vector<Blob>* Weights::Find(const std::string& layer) const {
  auto it = layers_.find(layer);
  return it == layers_.end() ? nullptr : &it->second;
}

Result<Tensor> Weights::TensorOf(const Blob& blob) const {
  const auto count = CheckedCount(blob.dims, blob.dtype);
  const std::string_view bytes = blob.data();
  if (!count || static_cast<uint64_t>(*count) * SizeOf(blob.dtype) != bytes.size())
    return InvalidModel("a blob of dims [", Join(blob.dims, ","), "] stores ", bytes.size(), " bytes of ",
                        DTypeName(blob.dtype));
  const bool aligned = reinterpret_cast<uintptr_t>(bytes.data()) % alignof(float) == 0;
  if (blob.dtype == DType::kF32 && aligned && blob.loose.empty() && file_.owned()) {
    const auto offset = static_cast<size_t>(bytes.data() - reinterpret_cast<const char*>(file_.data()));
    return Tensor::View(file_.Slice(offset, bytes.size()), DType::kF32, blob.dims);
  }
  Tensor stored(blob.dtype, blob.dims);
  if (!bytes.empty()) std::memcpy(stored.raw(), bytes.data(), bytes.size());
  if (blob.loose.empty()) DropMappedPages(bytes.data(), bytes.size());
  if (blob.dtype == DType::kF32) return stored;
  Tensor converted(DType::kF32, blob.dims);
  for (int64_t i = 0; i < stored.size(); ++i) StoreDouble(converted, i, LoadDouble(stored, i));
  return converted;
}

}  // namespace tern::caffe
