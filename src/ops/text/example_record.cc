#include "ops/text/example_record.h"

#include <cstring>

namespace tern {
namespace {

enum class Wire : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// Reads the fields of a protobuf message in order.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}

  // Moves to the next field. Returns false at the end, and if the message is damaged.
  bool Next() {
    if (rest_.empty() || !ok_) return false;
    uint64_t tag = 0;
    ok_ = Varint(tag) && tag >> 3 != 0 && tag <= UINT32_MAX && Value(static_cast<Wire>(tag & 7));
    field_ = static_cast<uint32_t>(tag >> 3);
    wire_ = static_cast<Wire>(tag & 7);
    return ok_;
  }
  bool ok() const { return ok_; }
  bool Is(uint32_t field, Wire wire) const { return field_ == field && wire_ == wire; }
  uint64_t number() const { return number_; }
  std::string_view bytes() const { return bytes_; }

  // Reads one varint from the front. For packed lists.
  bool Varint(uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(rest_[0]);
      rest_.remove_prefix(1);
      value |= uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
  bool done() const { return rest_.empty(); }

 private:
  bool Fixed(size_t width) {
    if (rest_.size() < width) return false;
    number_ = 0;
    std::memcpy(&number_, rest_.data(), width);
    rest_.remove_prefix(width);
    return true;
  }
  bool Value(Wire wire) {
    uint64_t size = 0;
    switch (wire) {
      case Wire::kVarint:
        return Varint(number_);
      case Wire::kFixed64:
        return Fixed(8);
      case Wire::kFixed32:
        return Fixed(4);
      case Wire::kBytes:
        if (!Varint(size) || size > rest_.size()) return false;
        bytes_ = rest_.substr(0, static_cast<size_t>(size));
        rest_.remove_prefix(static_cast<size_t>(size));
        return true;
    }
    return false;
  }

  std::string_view rest_;
  bool ok_ = true;
  uint32_t field_ = 0;
  Wire wire_ = Wire::kVarint;
  uint64_t number_ = 0;
  std::string_view bytes_;
};

float ToFloat(uint64_t bits) {
  const auto word = static_cast<uint32_t>(bits);
  float value = 0;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

// Each of the three lists has its values in field 1.
bool ReadFloats(std::string_view list, std::vector<float>& out) {
  Fields fields(list);
  while (fields.Next()) {
    if (fields.Is(1, Wire::kFixed32)) out.push_back(ToFloat(fields.number()));
    if (!fields.Is(1, Wire::kBytes)) continue;
    const std::string_view packed = fields.bytes();
    if (packed.size() % sizeof(float) != 0) return false;
    const size_t before = out.size();
    out.resize(before + packed.size() / sizeof(float));
    if (!packed.empty()) std::memcpy(out.data() + before, packed.data(), packed.size());
  }
  return fields.ok();
}

bool ReadIntegers(std::string_view list, std::vector<int64_t>& out) {
  Fields fields(list);
  while (fields.Next()) {
    if (fields.Is(1, Wire::kVarint)) out.push_back(static_cast<int64_t>(fields.number()));
    if (!fields.Is(1, Wire::kBytes)) continue;
    for (Fields packed(fields.bytes()); !packed.done();) {
      uint64_t value = 0;
      if (!packed.Varint(value)) return false;
      out.push_back(static_cast<int64_t>(value));
    }
  }
  return fields.ok();
}

bool ReadTexts(std::string_view list, std::vector<std::string>& out) {
  Fields fields(list);
  while (fields.Next())
    if (fields.Is(1, Wire::kBytes)) out.emplace_back(fields.bytes());
  return fields.ok();
}

// A Feature has one of the lists: bytes (1), floats (2) or integers (3).
bool ReadFeature(std::string_view feature, FeatureValues& out) {
  Fields fields(feature);
  while (fields.Next()) {
    if (!fields.Is(1, Wire::kBytes) && !fields.Is(2, Wire::kBytes) && !fields.Is(3, Wire::kBytes)) continue;
    const DType kind = fields.Is(1, Wire::kBytes)   ? DType::kString
                       : fields.Is(2, Wire::kBytes) ? DType::kF32
                                                    : DType::kI64;
    if (out.kind != kind) out = FeatureValues{};
    out.kind = kind;
    const bool good = kind == DType::kString ? ReadTexts(fields.bytes(), out.texts)
                      : kind == DType::kF32  ? ReadFloats(fields.bytes(), out.floats)
                                             : ReadIntegers(fields.bytes(), out.integers);
    if (!good) return false;
  }
  return fields.ok();
}

// Reads an entry of the map from names to features. Sets `value` if the name is `key`.
bool ReadEntry(std::string_view entry, std::string_view key, std::optional<std::string_view>& value) {
  std::string_view name, feature;
  Fields fields(entry);
  while (fields.Next()) {
    if (fields.Is(1, Wire::kBytes)) name = fields.bytes();
    if (fields.Is(2, Wire::kBytes)) feature = fields.bytes();
  }
  if (fields.ok() && name == key) value = feature;
  return fields.ok();
}

}  // namespace

Result<std::optional<FeatureValues>> FindFeature(std::string_view record, std::string_view key) {
  std::optional<std::string_view> last;
  Fields example(record);
  bool good = true;
  while (good && example.Next()) {
    if (!example.Is(1, Wire::kBytes)) continue;
    Fields features(example.bytes());
    while (good && features.Next())
      if (features.Is(1, Wire::kBytes)) good = ReadEntry(features.bytes(), key, last);
    good &= features.ok();
  }
  FeatureValues values;
  if (!good || !example.ok() || (last && !ReadFeature(*last, values)))
    return InvalidArgument("Could not parse example input, value of ", record.size(),
                           " bytes is not a serialized tf.Example");
  if (!last || values.kind == DType::kInvalid) return std::optional<FeatureValues>();
  return std::optional<FeatureValues>(std::move(values));
}

}  // namespace tern
