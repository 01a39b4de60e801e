// The attributes of an op are a plain struct. Its Visit function names each field.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "core/tensor.h"

namespace tern {

// The value of an attribute outside of its struct, for example in the text form or in an importer.
using AttrValue = std::variant<bool, int64_t, double, std::string, DType, std::vector<int64_t>,
                               std::vector<double>, std::vector<std::string>, Tensor>;

// The argument of a struct's `Visit` function. `Visit` calls this visitor once per field. For an enum, it
// passes the index of the enumerator and the texts of all enumerators.
class AttrVisitor {
 public:
  virtual ~AttrVisitor() = default;
  virtual void operator()(const char* name, bool& v, const char* doc) = 0;
  virtual void operator()(const char* name, int64_t& v, const char* doc) = 0;
  virtual void operator()(const char* name, float& v, const char* doc) = 0;
  virtual void operator()(const char* name, std::string& v, const char* doc) = 0;
  virtual void operator()(const char* name, DType& v, const char* doc) = 0;
  virtual void operator()(const char* name, std::vector<int64_t>& v, const char* doc) = 0;
  virtual void operator()(const char* name, std::vector<float>& v, const char* doc) = 0;
  virtual void operator()(const char* name, std::vector<std::string>& v, const char* doc) = 0;
  virtual void operator()(const char* name, Tensor& v, const char* doc) = 0;
  // `names` are the texts of the enumerators, in order.
  template <class E>
  void Enum(const char* name, E& v, const std::vector<const char*>& names, const char* doc) {
    int index = static_cast<int>(v);
    VisitEnum(name, index, names, doc);
    if (index != static_cast<int>(v))
      v = static_cast<E>(index);  // not written if unchanged, because other threads may read it
  }

 protected:
  virtual void VisitEnum(const char* name, int& v, const std::vector<const char*>& names,
                         const char* doc) = 0;
};

// Type-erased attributes of one node. A copy is cheap. A change of one copy does not affect other copies.
class Attrs {
 public:
  struct Entry {
    std::string name;
    AttrValue value;
    const char* doc;
    bool is_default;
    std::vector<const char*> choices;  // the texts of an enum's values
  };

  Attrs();
  Attrs(const Attrs&);
  Attrs(Attrs&&) noexcept;
  Attrs& operator=(const Attrs&);
  Attrs& operator=(Attrs&&) noexcept;
  ~Attrs();
  template <class T> static Attrs Of(T value) {
    Attrs a;
    a.rep_ = std::make_shared<Model<T>>(std::move(value));
    return a;
  }
  template <class T> const T& As() const { return static_cast<const Model<T>*>(rep_.get())->value; }

  std::vector<Entry> List() const;  // in declaration order
  bool Has(std::string_view name) const;
  // Sets an attribute. Converts an integer to float, a float without fraction to integer, 0 and 1 to bool,
  // and text to enum or dtype. Lists of numbers are converted like numbers, and an empty list of integers to
  // an empty list of any type. Fails for other types and unknown names. The error names the expected type.
  Status Set(const std::string& name, const AttrValue& value);

  // Return an attribute by name. The attribute must exist and have the type that the function returns. Enums
  // are returned as text.
  AttrValue Get(std::string_view name) const;
  bool Bool(std::string_view name) const;
  int64_t Int(std::string_view name) const;
  float Float(std::string_view name) const;
  std::string Text(std::string_view name) const;
  DType Type(std::string_view name) const;
  std::vector<int64_t> Ints(std::string_view name) const;
  std::vector<float> Floats(std::string_view name) const;

  friend bool operator==(const Attrs& a, const Attrs& b);

 private:
  struct Concept {
    virtual ~Concept() = default;
    virtual void Visit(AttrVisitor& v) = 0;
    virtual std::shared_ptr<Concept> Clone() const = 0;
    virtual std::shared_ptr<Concept> Fresh() const = 0;
  };
  template <class T> struct Model : Concept {
    explicit Model(T v) : value(std::move(v)) {}
    void Visit(AttrVisitor& v) override { value.Visit(v); }
    std::shared_ptr<Concept> Clone() const override { return std::make_shared<Model>(value); }
    std::shared_ptr<Concept> Fresh() const override { return std::make_shared<Model>(T{}); }
    T value;
  };
  std::shared_ptr<Concept> rep_;
};

bool SameAttr(const AttrValue& a, const AttrValue& b);
std::string AttrToText(const AttrValue& v);  // as printed in the text form

// For ops without attributes: struct Erf : NoAttrs {};
struct NoAttrs {
  template <class V> void Visit(V&) {}
};

}  // namespace tern
