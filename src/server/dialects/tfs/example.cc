#include "server/dialects/tfs/example.h"

#include <cstring>

#include "server/grpc/proto_wire.h"

namespace tern::server::tfs {
namespace {

Status DamagedExample() {
  return InvalidArgument("Could not parse example input: it is not a tensorflow.Example");
}

bool ReadFloats(std::string_view list, std::vector<float>& out) {
  ProtoReader reader(list);
  while (reader.Next()) {
    if (reader.Is(1, ProtoKind::kFixed32)) {
      const auto bits = static_cast<uint32_t>(reader.value());
      float value = 0;
      std::memcpy(&value, &bits, sizeof value);
      out.push_back(value);
    }
    if (!reader.Is(1, ProtoKind::kBytes)) continue;
    const std::string_view packed = reader.bytes();
    if (packed.size() % sizeof(float) != 0) return false;
    const size_t before = out.size();
    out.resize(before + packed.size() / sizeof(float));
    if (!packed.empty()) std::memcpy(out.data() + before, packed.data(), packed.size());
  }
  return reader.ok();
}

bool ReadIntegers(std::string_view list, std::vector<int64_t>& out) {
  ProtoReader reader(list);
  while (reader.Next()) {
    if (reader.Is(1, ProtoKind::kVarint)) out.push_back(static_cast<int64_t>(reader.value()));
    if (!reader.Is(1, ProtoKind::kBytes)) continue;
    const char* at = reader.bytes().data();
    const char* const end = at + reader.bytes().size();
    for (uint64_t value = 0; at < end; out.push_back(static_cast<int64_t>(value)))
      if (!ReadVarint(at, end, value)) return false;
  }
  return reader.ok();
}

bool ReadTexts(std::string_view list, std::vector<std::string>& out) {
  ProtoReader reader(list);
  while (reader.Next())
    if (reader.Is(1, ProtoKind::kBytes)) out.emplace_back(reader.bytes());
  return reader.ok();
}

// tensorflow.Feature: bytes_list (1), float_list (2) or int64_list (3). The last one counts.
bool ReadFeature(std::string_view bytes, Feature& out) {
  ProtoReader reader(bytes);
  while (reader.Next()) {
    if (reader.kind() != ProtoKind::kBytes || reader.field() > 3) continue;
    const DType kind = reader.field() == 1 ? DType::kString : reader.field() == 2 ? DType::kF32 : DType::kI64;
    if (out.kind != kind) out = Feature{};
    out.kind = kind;
    const bool good = kind == DType::kString ? ReadTexts(reader.bytes(), out.texts)
                      : kind == DType::kF32  ? ReadFloats(reader.bytes(), out.floats)
                                             : ReadIntegers(reader.bytes(), out.integers);
    if (!good) return false;
  }
  return reader.ok();
}

void AppendTextField(std::string& out, std::string_view text) { AppendBytesField(out, 1, text); }

std::string SerializeFeature(const Feature& feature) {
  std::string list;
  for (const std::string& text : feature.texts) AppendTextField(list, text);
  if (!feature.floats.empty())
    AppendBytesField(
        list, 1,
        {reinterpret_cast<const char*>(feature.floats.data()), feature.floats.size() * sizeof(float)});
  std::string packed;
  for (const int64_t value : feature.integers) AppendVarint(packed, static_cast<uint64_t>(value));
  if (!packed.empty()) AppendBytesField(list, 1, packed);
  std::string out;
  if (feature.kind != DType::kInvalid)
    AppendBytesField(out, feature.kind == DType::kString ? 1 : feature.kind == DType::kF32 ? 2 : 3, list);
  return out;
}

void AppendFeatures(std::string& out, const Example& example) {
  for (const auto& [name, feature] : example.features) {
    std::string entry;
    AppendBytesField(entry, 1, name);
    AppendBytesField(entry, 2, SerializeFeature(feature));
    AppendBytesField(out, 1, entry);
  }
}

}  // namespace

const Feature* Example::Find(std::string_view name) const {
  for (const auto& [key, feature] : features)
    if (key == name) return &feature;
  return nullptr;
}

void Example::Set(std::string name, Feature feature) {
  for (auto& [key, value] : features)
    if (key == name) {
      value = std::move(feature);
      return;
    }
  features.emplace_back(std::move(name), std::move(feature));
}

Status ReadExample(std::string_view bytes, size_t most, Example& example) {
  ProtoReader reader(bytes);
  while (reader.Next()) {
    if (!reader.Is(1, ProtoKind::kBytes)) continue;
    ProtoReader features(reader.bytes());
    while (features.Next()) {
      if (!features.Is(1, ProtoKind::kBytes)) continue;
      std::string_view name;
      Feature feature;
      ProtoReader entry(features.bytes());
      while (entry.Next()) {
        if (entry.Is(1, ProtoKind::kBytes)) name = entry.bytes();
        if (entry.Is(2, ProtoKind::kBytes) && !ReadFeature(entry.bytes(), feature)) return DamagedExample();
      }
      if (!entry.ok() || !IsUtf8(name)) return DamagedExample();
      example.Set(std::string(name), std::move(feature));
      if (example.features.size() > most)
        return InvalidArgument("an example has more than ", most, " features");
    }
    if (!features.ok()) return DamagedExample();
  }
  return reader.ok() ? Status() : DamagedExample();
}

std::string SerializeExample(const Example& context, const Example& item) {
  std::string features;
  AppendFeatures(features, context);
  AppendFeatures(features, item);
  std::string out;
  AppendBytesField(out, 1, features);
  return out;
}

}  // namespace tern::server::tfs
