// Reads attributes of types for which Attrs has no accessor.
#pragma once
#include "export/onnx/exporter.h"

namespace tern::onnx {

template <class T> T AttrOf(const TernNode& n, std::string_view name) {
  for (const auto& entry : n.attrs().List())
    if (entry.name == name) return std::get<T>(entry.value);
  return {};
}

inline std::vector<std::string> Texts(const TernNode& n, std::string_view name) {
  return AttrOf<std::vector<std::string>>(n, name);
}
inline Tensor TensorOf(const TernNode& n, std::string_view name) { return AttrOf<Tensor>(n, name); }
inline std::vector<double> Doubles(const TernNode& n, std::string_view name) {
  return AttrOf<std::vector<double>>(n, name);
}

inline std::string Upper(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  return text;
}

// Removes attributes that are empty lists. In ONNX, such an attribute is absent.
inline AttrList WithoutEmpty(AttrList attrs) {
  const auto empty = [](const NamedAttr& a) {
    if (const auto* v = std::get_if<std::vector<int64_t>>(&a.value)) return v->empty();
    if (const auto* v = std::get_if<std::vector<double>>(&a.value)) return v->empty();
    if (const auto* v = std::get_if<std::vector<std::string>>(&a.value)) return v->empty();
    return false;
  };
  std::erase_if(attrs, empty);
  return attrs;
}

}  // namespace tern::onnx
