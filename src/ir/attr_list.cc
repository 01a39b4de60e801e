#include "ir/attr_list.h"

template class std::vector<tern::NamedAttr>;

namespace tern {

NamedAttr::NamedAttr() = default;
NamedAttr::NamedAttr(std::string_view n, const AttrValue& v) : name(n), value(v) {}
NamedAttr::NamedAttr(std::string_view n, const char* v) : name(n), value(std::string(v)) {}
NamedAttr::NamedAttr(std::string_view n, const std::string& v) : name(n), value(v) {}
NamedAttr::NamedAttr(std::string_view n, bool v) : name(n), value(v) {}
NamedAttr::NamedAttr(std::string_view n, int64_t v) : name(n), value(v) {}
NamedAttr::NamedAttr(std::string_view n, double v) : name(n), value(v) {}
NamedAttr::NamedAttr(std::string_view n, DType v) : name(n), value(v) {}
NamedAttr::NamedAttr(std::string_view n, const std::vector<int64_t>& v) : name(n), value(v) {}
NamedAttr::NamedAttr(std::string_view n, const std::vector<double>& v) : name(n), value(v) {}
NamedAttr::NamedAttr(std::string_view n, const std::vector<std::string>& v) : name(n), value(v) {}
NamedAttr::NamedAttr(std::string_view n, const Tensor& v) : name(n), value(v) {}
NamedAttr::NamedAttr(const NamedAttr&) = default;
NamedAttr::NamedAttr(NamedAttr&&) noexcept = default;
NamedAttr& NamedAttr::operator=(const NamedAttr&) = default;
NamedAttr& NamedAttr::operator=(NamedAttr&&) noexcept = default;
NamedAttr::~NamedAttr() = default;

AttrList::AttrList() = default;
AttrList::AttrList(std::initializer_list<NamedAttr> attrs) : std::vector<NamedAttr>(attrs) {}
AttrList::AttrList(const AttrList&) = default;
AttrList::AttrList(AttrList&&) noexcept = default;
AttrList& AttrList::operator=(const AttrList&) = default;
AttrList& AttrList::operator=(AttrList&&) noexcept = default;
AttrList::~AttrList() = default;

void AttrList::Add(NamedAttr attr) { push_back(std::move(attr)); }

}  // namespace tern
