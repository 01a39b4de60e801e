// A list of attributes for Builder::Op, for example {{"kind", "relu"}, {"axis", 1}}.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ir/attrs.h"

namespace tern {

// The functions that copy or destroy an AttrValue are not inline, because they compile to much code and have
// hundreds of callers.
struct NamedAttr {
  std::string name;
  AttrValue value;

  NamedAttr();
  NamedAttr(std::string_view name, const AttrValue& value);
  NamedAttr(std::string_view name, const char* value);
  NamedAttr(std::string_view name, const std::string& value);
  NamedAttr(std::string_view name, bool value);
  NamedAttr(std::string_view name, int64_t value);
  NamedAttr(std::string_view name, double value);
  NamedAttr(std::string_view name, DType value);
  NamedAttr(std::string_view name, const std::vector<int64_t>& value);
  NamedAttr(std::string_view name, const std::vector<double>& value);
  NamedAttr(std::string_view name, const std::vector<std::string>& value);
  NamedAttr(std::string_view name, const Tensor& value);
  template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  NamedAttr(std::string_view name, T value) : NamedAttr(name, static_cast<int64_t>(value)) {}
  NamedAttr(const NamedAttr&);
  NamedAttr(NamedAttr&&) noexcept;
  NamedAttr& operator=(const NamedAttr&);
  NamedAttr& operator=(NamedAttr&&) noexcept;
  ~NamedAttr();
};

class AttrList : public std::vector<NamedAttr> {
 public:
  AttrList();
  AttrList(std::initializer_list<NamedAttr> attrs);  // NOLINT
  AttrList(const AttrList&);
  AttrList(AttrList&&) noexcept;
  AttrList& operator=(const AttrList&);
  AttrList& operator=(AttrList&&) noexcept;
  ~AttrList();

  void Add(NamedAttr attr);
  template <class V> void emplace_back(std::string_view name, const V& value) { Add(NamedAttr(name, value)); }
};

}  // namespace tern

extern template class std::vector<tern::NamedAttr>;
