#include "ir/attrs.h"

#include <algorithm>
#include <cmath>

#include "ir/float_text.h"

namespace tern {
namespace {

class Lister : public AttrVisitor {
 public:
  std::vector<Attrs::Entry> entries;
  void operator()(const char* n, bool& v, const char* d) override { Add(n, v, d); }
  void operator()(const char* n, int64_t& v, const char* d) override { Add(n, v, d); }
  void operator()(const char* n, float& v, const char* d) override { Add(n, static_cast<double>(v), d); }
  void operator()(const char* n, std::string& v, const char* d) override { Add(n, v, d); }
  void operator()(const char* n, DType& v, const char* d) override { Add(n, v, d); }
  void operator()(const char* n, std::vector<int64_t>& v, const char* d) override { Add(n, v, d); }
  void operator()(const char* n, std::vector<float>& v, const char* d) override {
    Add(n, std::vector<double>(v.begin(), v.end()), d);
  }
  void operator()(const char* n, std::vector<std::string>& v, const char* d) override { Add(n, v, d); }
  void operator()(const char* n, Tensor& v, const char* d) override { Add(n, v, d); }

 private:
  void VisitEnum(const char* n, int& v, const std::vector<const char*>& names, const char* d) override {
    Add(n, std::string(names.at(static_cast<size_t>(v))), d);
    entries.back().choices = names;
  }
  void Add(const char* name, AttrValue value, const char* doc) {
    entries.push_back({name, std::move(value), doc, false, {}});
  }
};

// Finds one attribute by name and skips other attributes.
class Finder : public AttrVisitor {
 public:
  // `value` receives the attribute. It may be null.
  Finder(std::string_view name, AttrValue* value) : name_(name), value_(value) {}
  bool found = false;
  void operator()(const char* n, bool& v, const char*) override { Take(n, v); }
  void operator()(const char* n, int64_t& v, const char*) override { Take(n, v); }
  void operator()(const char* n, float& v, const char*) override { Take(n, static_cast<double>(v)); }
  void operator()(const char* n, std::string& v, const char*) override { Take(n, v); }
  void operator()(const char* n, DType& v, const char*) override { Take(n, v); }
  void operator()(const char* n, std::vector<int64_t>& v, const char*) override { Take(n, v); }
  void operator()(const char* n, std::vector<float>& v, const char*) override {
    if (Is(n)) Take(n, std::vector<double>(v.begin(), v.end()));
  }
  void operator()(const char* n, std::vector<std::string>& v, const char*) override { Take(n, v); }
  void operator()(const char* n, Tensor& v, const char*) override { Take(n, v); }

 private:
  void VisitEnum(const char* n, int& v, const std::vector<const char*>& names, const char*) override {
    if (Is(n)) Take(n, std::string(names.at(static_cast<size_t>(v))));
  }
  bool Is(const char* n) const { return !found && name_ == n; }
  template <class T> void Take(const char* n, const T& v) {
    if (!Is(n)) return;
    found = true;
    if (value_) *value_ = v;
  }

  std::string_view name_;
  AttrValue* value_;
};

bool IsInteger(double d) { return std::trunc(d) == d && std::fabs(d) < 0x1p63; }

class Setter : public AttrVisitor {
 public:
  Setter(const std::string& name, const AttrValue& value) : name_(name), value_(value) {}
  Status status = InvalidArgument("no such attribute");

  void operator()(const char* n, bool& v, const char*) override {
    if (n != name_) return;
    if (auto* i = std::get_if<int64_t>(&value_); i && (*i == 0 || *i == 1))
      Take(v, *i == 1);
    else
      Plain(v, "true or false");
  }
  void operator()(const char* n, int64_t& v, const char*) override {
    if (n != name_) return;
    if (auto* d = std::get_if<double>(&value_); d && IsInteger(*d))
      Take(v, static_cast<int64_t>(*d));
    else
      Plain(v, "an integer");
  }
  void operator()(const char* n, float& v, const char*) override {
    if (n != name_) return;
    if (auto* i = std::get_if<int64_t>(&value_))
      Take(v, static_cast<float>(*i));
    else if (auto* d = std::get_if<double>(&value_))
      Take(v, static_cast<float>(*d));
    else
      Wrong("a number");
  }
  void operator()(const char* n, std::string& v, const char*) override {
    if (n == name_) Plain(v, "text");
  }
  void operator()(const char* n, DType& v, const char*) override {
    if (n != name_) return;
    auto* text = std::get_if<std::string>(&value_);
    if (auto t = text ? ParseDType(*text) : std::nullopt)
      Take(v, *t);
    else
      Plain(v, "an element type");
  }
  void operator()(const char* n, std::vector<int64_t>& v, const char*) override {
    if (n != name_) return;
    if (auto* d = std::get_if<std::vector<double>>(&value_);
        d && std::all_of(d->begin(), d->end(), IsInteger))
      Take(v, std::vector<int64_t>(d->begin(), d->end()));
    else
      EmptyOr(v, "a list of integers");
  }
  void operator()(const char* n, std::vector<float>& v, const char*) override {
    if (n != name_) return;
    if (auto* d = std::get_if<std::vector<double>>(&value_))
      Take(v, std::vector<float>(d->begin(), d->end()));
    else if (auto* i = std::get_if<std::vector<int64_t>>(&value_))
      Take(v, std::vector<float>(i->begin(), i->end()));
    else
      Wrong("a list of numbers");
  }
  void operator()(const char* n, std::vector<std::string>& v, const char*) override {
    if (n == name_) EmptyOr(v, "a list of texts");
  }
  void operator()(const char* n, Tensor& v, const char*) override {
    if (n == name_) Plain(v, "a tensor");
  }

 private:
  void VisitEnum(const char* n, int& v, const std::vector<const char*>& names, const char*) override {
    if (n != name_) return;
    const auto* text = std::get_if<std::string>(&value_);
    for (size_t i = 0; text && i < names.size(); ++i)
      if (*text == names[i]) return Take(v, static_cast<int>(i));
    std::string wanted;
    for (const char* name : names) wanted += (wanted.empty() ? "" : "|") + std::string(name);
    Wrong(wanted);
  }
  template <class T, class U> void Take(T& slot, U value) {
    slot = std::move(value);
    status = Status();
  }
  template <class T> void Plain(T& slot, const char* wanted) {
    if (auto* v = std::get_if<T>(&value_))
      Take(slot, *v);
    else
      Wrong(wanted);
  }
  // `[]` parses as an empty list of integers, but means an empty list of any type.
  template <class T> void EmptyOr(T& slot, const char* wanted) {
    auto* ints = std::get_if<std::vector<int64_t>>(&value_);
    if (ints && ints->empty())
      Take(slot, T{});
    else
      Plain(slot, wanted);
  }
  void Wrong(const std::string& wanted) {
    status = InvalidArgument("expected ", wanted, ", got ", AttrToText(value_));
  }

  const std::string& name_;
  const AttrValue& value_;
};

template <class T> const T& Expect(const AttrValue& v, std::string_view name) {
  const T* p = std::get_if<T>(&v);
  TERN_CHECK(p, "attribute '", name, "' has another type");
  return *p;
}

// Compares in single precision, because attributes have this precision. A NaN equals any NaN. +0 and -0
// differ.
bool SameNumber(double a, double b) {
  const auto x = static_cast<float>(a), y = static_cast<float>(b);
  return (std::isnan(x) && std::isnan(y)) || (x == y && std::signbit(x) == std::signbit(y));
}

template <class T> std::string ListText(const std::vector<T>& items) {
  std::string out = "[";
  for (size_t i = 0; i < items.size(); ++i) out += (i ? ", " : "") + AttrToText(AttrValue(items[i]));
  return out + "]";
}

}  // namespace

Attrs::Attrs() = default;
Attrs::Attrs(const Attrs&) = default;
Attrs::Attrs(Attrs&&) noexcept = default;
Attrs& Attrs::operator=(const Attrs&) = default;
Attrs& Attrs::operator=(Attrs&&) noexcept = default;
Attrs::~Attrs() = default;

std::vector<Attrs::Entry> Attrs::List() const {
  if (!rep_) return {};
  Lister current, defaults;
  rep_->Visit(current);
  rep_->Fresh()->Visit(defaults);
  for (size_t i = 0; i < current.entries.size(); ++i)
    current.entries[i].is_default = SameAttr(current.entries[i].value, defaults.entries[i].value);
  return std::move(current.entries);
}

bool Attrs::Has(std::string_view name) const {
  Finder finder(name, nullptr);
  if (rep_) rep_->Visit(finder);
  return finder.found;
}

Status Attrs::Set(const std::string& name, const AttrValue& value) {
  if (!rep_) return InvalidArgument("attribute '", name, "': the op has no attributes");
  auto copy = rep_->Clone();
  Setter setter(name, value);
  copy->Visit(setter);
  if (!setter.status.ok()) return InvalidArgument("attribute '", name, "': ", setter.status.message());
  rep_ = std::move(copy);
  return {};
}

AttrValue Attrs::Get(std::string_view name) const {
  AttrValue value;
  Finder finder(name, &value);
  if (rep_) rep_->Visit(finder);
  TERN_CHECK(finder.found, "no attribute '", name, "'");
  return value;
}

bool Attrs::Bool(std::string_view name) const { return Expect<bool>(Get(name), name); }
int64_t Attrs::Int(std::string_view name) const { return Expect<int64_t>(Get(name), name); }
float Attrs::Float(std::string_view name) const {
  return static_cast<float>(Expect<double>(Get(name), name));
}
std::string Attrs::Text(std::string_view name) const { return Expect<std::string>(Get(name), name); }
DType Attrs::Type(std::string_view name) const { return Expect<DType>(Get(name), name); }
std::vector<int64_t> Attrs::Ints(std::string_view name) const {
  return Expect<std::vector<int64_t>>(Get(name), name);
}

std::vector<float> Attrs::Floats(std::string_view name) const {
  const AttrValue v = Get(name);
  const auto& d = Expect<std::vector<double>>(v, name);
  return {d.begin(), d.end()};
}

bool SameAttr(const AttrValue& a, const AttrValue& b) {
  if (a.index() != b.index()) return false;
  if (auto* t = std::get_if<Tensor>(&a)) return SameTensor(*t, std::get<Tensor>(b));
  if (auto* d = std::get_if<double>(&a)) return SameNumber(*d, std::get<double>(b));
  if (auto* list = std::get_if<std::vector<double>>(&a)) {
    const auto& other = std::get<std::vector<double>>(b);
    return std::equal(list->begin(), list->end(), other.begin(), other.end(), SameNumber);
  }
  return std::visit(
      [&](const auto& v) {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, Tensor>)
          return false;  // handled above
        else
          return v == std::get<T>(b);
      },
      a);
}

bool operator==(const Attrs& a, const Attrs& b) {
  if (a.rep_ == b.rep_) return true;
  Lister x, y;
  if (a.rep_) a.rep_->Visit(x);
  if (b.rep_) b.rep_->Visit(y);
  return std::equal(x.entries.begin(), x.entries.end(), y.entries.begin(), y.entries.end(),
                    [](const Attrs::Entry& p, const Attrs::Entry& q) {
                      return p.name == q.name && SameAttr(p.value, q.value);
                    });
}

std::string AttrToText(const AttrValue& v) {
  if (auto* b = std::get_if<bool>(&v)) return *b ? "true" : "false";
  if (auto* i = std::get_if<int64_t>(&v)) return StrCat(*i);
  if (auto* d = std::get_if<double>(&v)) {
    // Converts to f32 first. Attributes have this precision, and an f32 has a shorter text than the f64 of
    // the same value.
    Tensor single(DType::kF32, {});
    single.data<float>()[0] = static_cast<float>(*d);
    const std::string text = FloatText(single, 0);
    const bool plain = text.find_first_of(".en") == std::string::npos;
    return plain ? text + ".0" : text;
  }
  if (auto* s = std::get_if<std::string>(&v)) return QuoteText(*s);
  if (auto* t = std::get_if<DType>(&v)) return DTypeName(*t);
  if (auto* l = std::get_if<std::vector<int64_t>>(&v)) return ListText(*l);
  if (auto* l = std::get_if<std::vector<double>>(&v)) return ListText(*l);
  if (auto* l = std::get_if<std::vector<std::string>>(&v)) return ListText(*l);
  return std::get<Tensor>(v).Describe();
}

}  // namespace tern
