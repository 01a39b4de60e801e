#include "server/dialects/tfs/json_tensor_reader.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "server/dialects/tfs/data_types.h"
#include "server/http/base64.h"

namespace tern::server::tfs {
namespace {

using Kind = JsonReader::Kind;

std::string KindName(JsonReader& json) {
  switch (json.Peek()) {
    case Kind::kObject:
      return "Object";
    case Kind::kArray:
      return "Array";
    case Kind::kString:
      return "String";
    case Kind::kNumber:
      return "Number";
    case Kind::kBool:
      return json.text()[json.position()] == 't' ? "True" : "False";
    default:
      return "Null";
  }
}

Status TypeError(JsonReader& json, DType dtype) {
  const Kind kind = json.Peek();
  if (kind == Kind::kNone) return json.Skip();
  return InvalidArgument("JSON Value: ", ValueText(json, json.position()), " Type: ", KindName(json),
                         " is not of expected type: ", TypeName(dtype));
}

template <class T> void Append(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

Status Lossy(const JsonNumber& number, DType dtype) {
  return InvalidArgument("Cannot convert JSON value: ", number.text.substr(0, 40), " to ", TypeName(dtype),
                         " without loss of precision.");
}

// An integer must be exact. A fraction is rounded.
Status AppendFloat(JsonReader& json, DType dtype, std::string& out) {
  if (json.Peek() != Kind::kNumber) return TypeError(json, dtype);
  JsonNumber number;
  TERN_TRY(json.Number(number));
  double wide = 0;
  if (!ToDouble(number, wide).ok()) return Lossy(number, dtype);
  const auto single = static_cast<float>(wide);
  const int digits = dtype == DType::kF64 ? 53 : dtype == DType::kF32 ? 24 : dtype == DType::kF16 ? 11 : 8;
  if (number.integer && number.magnitude > (uint64_t{1} << digits)) {
    const double back = dtype == DType::kF64   ? wide
                        : dtype == DType::kF32 ? single
                        : dtype == DType::kF16 ? HalfToFloat(FloatToHalf(single))
                                               : BFloatToFloat(FloatToBFloat(single));
    // 2^64 does not fit into uint64_t.
    if (std::fabs(back) >= 0x1p64 || static_cast<uint64_t>(std::fabs(back)) != number.magnitude)
      return Lossy(number, dtype);
  }
  if (dtype == DType::kF64) return Append(out, wide), Status();
  if (std::isfinite(wide) && !std::isfinite(single)) return Lossy(number, dtype);
  if (dtype == DType::kF32) return Append(out, single), Status();
  const uint16_t bits = dtype == DType::kF16 ? FloatToHalf(single) : FloatToBFloat(single);
  const float back = dtype == DType::kF16 ? HalfToFloat(bits) : BFloatToFloat(bits);
  if (std::isfinite(single) && !std::isfinite(back)) return Lossy(number, dtype);
  return Append(out, bits), Status();
}

template <class T> Status AppendInteger(JsonReader& json, DType dtype, std::string& out) {
  if (json.Peek() != Kind::kNumber) return TypeError(json, dtype);
  const size_t begin = json.position();
  JsonNumber number;
  TERN_TRY(json.Number(number));
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<T>::max());
  constexpr uint64_t kLeast = std::is_signed_v<T> ? kMost + 1 : 0;
  if (!number.integer || number.magnitude > (number.negative ? kLeast : kMost)) {
    json.Seek(begin);
    return TypeError(json, dtype);
  }
  return Append(out, static_cast<T>(number.negative ? ~number.magnitude + 1 : number.magnitude)), Status();
}

Status AppendBool(JsonReader& json, std::string& out) {
  if (json.Peek() != Kind::kBool) return TypeError(json, DType::kBool);
  bool value = false;
  TERN_TRY(json.Bool(value));
  return Append(out, static_cast<uint8_t>(value)), Status();
}

}  // namespace

bool IsBase64(JsonReader& json) {
  if (json.Peek() != Kind::kObject) return false;
  JsonReader ahead(json.text().substr(json.position()), 100);
  int members = 0;
  bool text = false;
  const Status read = ahead.Object([&](std::string_view key) -> Status {
    text = key == "b64" && ahead.Peek() == Kind::kString;
    // The first other member decides, so that long objects are not read twice.
    if (++members > 1 || !text) return InvalidArgument("an object with other members");
    return ahead.Skip();
  });
  return read.ok() && members == 1 && text;
}

Status ReadBase64(JsonReader& json, std::string& bytes) {
  std::string decoded, storage;
  TERN_TRY(json.Object([&](std::string_view) -> Status {
    std::string_view text;
    TERN_TRY(json.String(text, storage));
    return DecodeBase64(text, decoded) ? Status() : InvalidArgument("Unable to base64 decode");
  }));
  bytes += decoded;
  return {};
}

std::string_view ValueText(JsonReader& json, size_t position) {
  constexpr size_t kMost = 80;
  const size_t back = json.position();
  json.Seek(position);
  const Status read = json.Skip();
  const size_t end = read.ok() ? json.position() : json.text().size();
  json.Seek(back);
  size_t size = std::min(end - position, kMost);
  while (size > 0 && position + size < json.text().size() &&
         (static_cast<uint8_t>(json.text()[position + size]) & 0xC0) == 0x80)
    --size;  // cuts between characters
  return json.text().substr(position, size);
}

Status JsonTensorReader::AddText(JsonReader& json) {
  std::string_view text;
  std::string decoded;
  if (json.Peek() == Kind::kObject) {
    if (!IsBase64(json))
      return InvalidArgument("JSON Value: ", ValueText(json, json.position()),
                             " not formatted correctly for base64 data");
    TERN_TRY(ReadBase64(json, decoded));
    text = decoded;
  } else {
    if (json.Peek() != Kind::kString) return TypeError(json, dtype_);
    TERN_TRY(json.String(text, storage_));
  }
  Append(bytes_, static_cast<uint32_t>(text.size()));
  bytes_ += text;
  return {};
}

Status JsonTensorReader::AddElement(JsonReader& json) {
  switch (dtype_) {
    case DType::kString:
      return AddText(json);
    case DType::kBool:
      return AppendBool(json, bytes_);
    case DType::kU8:
      return AppendInteger<uint8_t>(json, dtype_, bytes_);
    case DType::kU16:
      return AppendInteger<uint16_t>(json, dtype_, bytes_);
    case DType::kU32:
      return AppendInteger<uint32_t>(json, dtype_, bytes_);
    case DType::kU64:
      return AppendInteger<uint64_t>(json, dtype_, bytes_);
    case DType::kI8:
      return AppendInteger<int8_t>(json, dtype_, bytes_);
    case DType::kI16:
      return AppendInteger<int16_t>(json, dtype_, bytes_);
    case DType::kI32:
      return AppendInteger<int32_t>(json, dtype_, bytes_);
    case DType::kI64:
      return AppendInteger<int64_t>(json, dtype_, bytes_);
    case DType::kF16:
    case DType::kBF16:
    case DType::kF32:
    case DType::kF64:
      return AppendFloat(json, dtype_, bytes_);
    default:
      return Unsupported("input '", name_, "' has a type that JSON cannot carry");
  }
}

Status JsonTensorReader::ReadValue(JsonReader& json, size_t level) {
  const Kind kind = json.Peek();
  if (kind == Kind::kArray) return ReadList(json, level);
  if (leaf_ < 0 && level < open_.size())  // an empty list has fixed the rank
    return InvalidArgument("JSON Value: ", ValueText(json, json.position()),
                           " found at incorrect level: ", level + 1,
                           " in the JSON DOM. Expected at level: ", open_.size());
  if (leaf_ >= 0 && leaf_ != static_cast<int64_t>(level))
    return InvalidArgument("JSON Value: ", ValueText(json, json.position()),
                           " found at incorrect level: ", level + 1,
                           " in the JSON DOM. Expected at level: ", leaf_);
  if (kind == Kind::kObject && dtype_ != DType::kString) return TypeError(json, dtype_);
  leaf_ = static_cast<int64_t>(level);
  ++count_;
  return AddElement(json);
}

Status JsonTensorReader::ReadList(JsonReader& json, size_t level) {
  if (leaf_ >= 0 && static_cast<int64_t>(level) >= leaf_)
    return InvalidArgument("Encountered list at unexpected level: ", level, " expected < ", leaf_);
  if (open_.size() <= level) open_.push_back(-1);
  int64_t size = 0;
  TERN_TRY(json.Array([&]() -> Status {
    ++size;
    return ReadValue(json, level + 1);
  }));
  return CloseList(level, size);
}

Status JsonTensorReader::CloseList(size_t level, int64_t size) {
  if (open_[level] < 0) open_[level] = size;
  if (open_[level] == size) return {};
  return InvalidArgument("Encountered list at unexpected size: ", size, " at level: ", level,
                         " expected size: ", open_[level]);
}

Status JsonTensorReader::CheckItem() const {
  if (items_ == 0 || (count_ == elements_ && open_ == dims_)) return {};
  if (count_ != elements_) return InvalidArgument("Expecting tensor size: ", elements_, " but got: ", count_);
  return InvalidArgument("Expecting shape [", Join(dims_, ","), "] but got: [", Join(open_, ","), "]");
}

Status JsonTensorReader::AddItem(JsonReader& json) {
  open_.clear();
  leaf_ = -1;
  count_ = 0;
  TERN_TRY(ReadValue(json, 0));
  TERN_TRY(CheckItem());
  dims_ = open_;
  elements_ = count_;
  ++items_;
  return {};
}

WireTensor JsonTensorReader::Take(bool batched) {
  Dims dims = dims_;
  if (batched) dims.insert(dims.begin(), items_);
  const auto owner = std::make_shared<std::string>(std::move(bytes_));
  return {std::move(name_), dtype_, std::move(dims), Buffer::Borrow(owner->data(), owner->size(), owner)};
}

}  // namespace tern::server::tfs
