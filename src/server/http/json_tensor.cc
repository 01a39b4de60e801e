#include "server/http/json_tensor.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "base/dtype.h"
#include "server/core/model_config.h"

namespace tern::server {
namespace {

// The message begins with Triton's text and ends with the two numbers of elements. `have` is the number in
// the request, or "more" or "fewer" if the elements were not all counted.
Status WrongCount(const WireTensor& tensor, const std::string& have) {
  return InvalidArgument("Failed to parse 'data' field: shape does not match true shape; the shape [",
                         Join(tensor.dims, ","), "] of input '", tensor.name, "' has ",
                         *ElementCount(tensor.name, tensor.dims), " elements, 'data' has ", have);
}
Status TooMany(const WireTensor& tensor) { return WrongCount(tensor, "more"); }

// Writes elements of type T one after the other.
template <class T> class ElementWriter {
 public:
  explicit ElementWriter(const WireTensor& tensor)
      : tensor_(tensor), count_(tensor.bytes.size() / sizeof(T)) {}
  Status Add(T value) {
    if (used_ == count_) return TooMany(tensor_);
    std::memcpy(tensor_.bytes.data() + used_++ * sizeof(T), &value, sizeof(T));
    return {};
  }
  Status Finish() const { return used_ == count_ ? Status() : WrongCount(tensor_, StrCat(used_)); }

 private:
  const WireTensor& tensor_;
  const size_t count_;
  size_t used_ = 0;
};

// Calls `leaf` for each value that is not an array.
template <class F> Status ForEachLeaf(JsonReader& json, F& leaf) {
  return json.Array([&]() -> Status {
    if (json.Peek() == JsonReader::Kind::kArray) return ForEachLeaf(json, leaf);
    return leaf();
  });
}

template <class T, class F> Status ReadElements(JsonReader& json, const WireTensor& tensor, F&& read) {
  ElementWriter<T> writer(tensor);
  auto leaf = [&]() -> Status {
    T value{};
    TERN_TRY(read(value));
    return writer.Add(value);
  };
  TERN_TRY(ForEachLeaf(json, leaf));
  return writer.Finish();
}

Status OutOfRange(const JsonNumber& number, DType dtype) {
  return InvalidArgument("the number ", number.text.substr(0, 40), " does not fit into ", WireName(dtype));
}

template <class T> Status ReadIntegers(JsonReader& json, WireTensor& tensor) {
  return ReadElements<T>(json, tensor, [&](T& value) -> Status {
    JsonNumber number;
    TERN_TRY(json.Number(number));
    if (!number.integer) return OutOfRange(number, tensor.dtype);
    constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<T>::max());
    constexpr uint64_t kLeast = std::is_signed_v<T> ? kMost + 1 : 0;
    if (number.magnitude > (number.negative ? kLeast : kMost)) return OutOfRange(number, tensor.dtype);
    value = static_cast<T>(number.negative ? ~number.magnitude + 1 : number.magnitude);
    return {};
  });
}

Status ReadBools(JsonReader& json, WireTensor& tensor) {
  return ReadElements<uint8_t>(json, tensor, [&](uint8_t& value) -> Status {
    if (json.Peek() == JsonReader::Kind::kNumber) {
      JsonNumber number;
      TERN_TRY(json.Number(number));
      if (!number.integer || number.magnitude > 1 || number.negative) return OutOfRange(number, tensor.dtype);
      value = static_cast<uint8_t>(number.magnitude);
      return {};
    }
    bool flag = false;
    TERN_TRY(json.Bool(flag));
    value = flag;
    return {};
  });
}

Status ReadHalves(JsonReader& json, WireTensor& tensor) {
  const bool half = tensor.dtype == DType::kF16;
  return ReadElements<uint16_t>(json, tensor, [&](uint16_t& value) -> Status {
    JsonNumber number;
    float wide = 0;
    TERN_TRY(json.Number(number));
    TERN_TRY(ToFloat(number, wide));
    value = half ? FloatToHalf(wide) : FloatToBFloat(wide);
    if (std::isfinite(wide) && !std::isfinite(half ? HalfToFloat(value) : BFloatToFloat(value)))
      return OutOfRange(number, tensor.dtype);
    return {};
  });
}

Status ReadStrings(JsonReader& json, uint64_t count, WireTensor& tensor) {
  auto bytes = std::make_shared<std::string>();
  uint64_t used = 0;
  std::string storage;
  auto leaf = [&]() -> Status {
    std::string_view text;
    TERN_TRY(json.String(text, storage));
    if (used++ == count) return TooMany(tensor);
    const auto length = static_cast<uint32_t>(text.size());
    bytes->append(reinterpret_cast<const char*>(&length), sizeof length);
    bytes->append(text);
    return {};
  };
  TERN_TRY(ForEachLeaf(json, leaf));
  if (used != count) return WrongCount(tensor, StrCat(used));
  tensor.bytes = Buffer::Borrow(bytes->data(), bytes->size(), bytes);
  return {};
}

Status ReadByType(JsonReader& json, WireTensor& tensor) {
  switch (tensor.dtype) {
    case DType::kBool:
      return ReadBools(json, tensor);
    case DType::kU8:
      return ReadIntegers<uint8_t>(json, tensor);
    case DType::kU16:
      return ReadIntegers<uint16_t>(json, tensor);
    case DType::kU32:
      return ReadIntegers<uint32_t>(json, tensor);
    case DType::kU64:
      return ReadIntegers<uint64_t>(json, tensor);
    case DType::kI8:
      return ReadIntegers<int8_t>(json, tensor);
    case DType::kI16:
      return ReadIntegers<int16_t>(json, tensor);
    case DType::kI32:
      return ReadIntegers<int32_t>(json, tensor);
    case DType::kI64:
      return ReadIntegers<int64_t>(json, tensor);
    case DType::kF16:
    case DType::kBF16:
      return ReadHalves(json, tensor);
    case DType::kF32:
    case DType::kF64:
      break;
    default:
      return InvalidArgument("input '", tensor.name, "' has a type that JSON cannot carry");
  }
  const auto read = [&](auto& value) -> Status {
    JsonNumber number;
    TERN_TRY(json.Number(number));
    if constexpr (sizeof value == sizeof(float))
      return ToFloat(number, value);
    else
      return ToDouble(number, value);
  };
  if (tensor.dtype == DType::kF32) return ReadElements<float>(json, tensor, read);
  return ReadElements<double>(json, tensor, read);
}

}  // namespace

Result<uint64_t> ElementCount(std::string_view name, const Dims& dims) {
  uint64_t count = 1;
  bool overflow = false;
  for (const int64_t dim : dims) {
    if (dim < 0)
      return InvalidArgument("invalid shape for input '", name,
                             "': it contains one or more invalid dimensions");
    if (dim == 0) return uint64_t{0};
  }
  for (const int64_t dim : dims)
    overflow |= __builtin_mul_overflow(count, static_cast<uint64_t>(dim), &count) || count > INT64_MAX;
  if (overflow)
    return InvalidArgument("invalid shape for input '", name,
                           "': it causes total element count to exceed maximum size of ", INT64_MAX);
  if (count > INT64_MAX / 8)  // no element of a fixed size has more than 8 bytes
    return InvalidArgument("byte size overflow for input '", name, "': its shape has ", count, " elements");
  return count;
}

Status ReadJsonTensor(JsonReader& json, WireTensor& tensor) {
  if (json.Peek() != JsonReader::Kind::kArray) return InvalidArgument("Unable to parse 'data'");
  TERN_ASSIGN(const uint64_t count, ElementCount(tensor.name, tensor.dims));
  // An element has at least one byte of text. This check refuses a hostile shape before memory is allocated.
  if (count > json.left()) return WrongCount(tensor, "fewer");
  if (tensor.dtype == DType::kString) return ReadStrings(json, count, tensor);
  tensor.bytes = Buffer::Allocate(BytesOf(tensor.dtype, static_cast<size_t>(count)));
  return ReadByType(json, tensor);
}

}  // namespace tern::server
