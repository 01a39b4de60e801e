// The static type of a value, which is a tensor with a symbolic shape, or a sequence, optional or map.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "core/dim.h"
#include "core/tensor.h"

namespace tern {

class MemorySpace;

// The dims of a tensor, or an unknown rank.
struct Shape {
  bool ranked = false;
  std::vector<Dim> dims;

  Shape();                    // rank unknown
  Shape(std::vector<Dim> d);  // NOLINT
  Shape(const Shape&);
  Shape(Shape&&) noexcept;
  Shape& operator=(const Shape&);
  Shape& operator=(Shape&&) noexcept;
  ~Shape();
  static Shape Of(const Dims& d);
  int rank() const { return ranked ? static_cast<int>(dims.size()) : -1; }
  const Dim& operator[](int i) const { return dims[i < 0 ? i + dims.size() : i]; }
  bool fully_known() const;
  Dims Concrete() const;         // requires fully_known()
  std::string ToString() const;  // "[N,3]"; "[*]" when the rank is unknown
};
bool operator==(const Shape& a, const Shape& b);  // both ranks are known, and all dims are provably equal

// Maximum nesting of types in text and files. A tensor has depth 0, a sequence of tensors depth 1.
inline constexpr int kMaxTypeDepth = 16;

struct Type {
  enum class Kind : uint8_t { kUnknown, kTensor, kSequence, kOptional, kMap };
  Kind kind = Kind::kUnknown;
  DType dtype = DType::kInvalid;  // element type of a tensor, or key type of a map
  Shape shape;
  std::shared_ptr<const Type> element;  // element type of a sequence or optional, or value type of a map
  // The memory in which the value is stored, or null for host memory. ToString does not print it, and
  // operator== does not compare it.
  MemorySpace* memory = nullptr;

  Type();
  Type(const Type&);
  Type(Type&&) noexcept;
  Type& operator=(const Type&);
  Type& operator=(Type&&) noexcept;
  ~Type();

  static Type TensorOf(DType dtype, Shape shape = {});
  static Type SequenceOf(Type element);
  static Type OptionalOf(Type element);
  static Type MapOf(DType key, Type value);
  // Parses the text form, as ToString returns it.
  static Result<Type> Parse(std::string_view text);
  bool tensor() const { return kind == Kind::kTensor; }
  int Depth() const;             // nesting of sequences, optionals and maps
  std::string ToString() const;  // "f32[N,3]", "seq(f32[*])", "optional(…)", "map(i64,f32[])"
};
bool operator==(const Type& a, const Type& b);

// Copies the parts of `declared` that are unknown in `type`. Known parts of `type` stay, with one exception:
// if `type` is optional, and `declared` is known and not optional, `type` becomes `declared`. Does not look
// into the elements of sequences, optionals and maps.
void RefineType(Type& type, const Type& declared);
// Returns the type of a value that has type a or type b. Dims, ranks and element types that differ become
// unknown. If one of the two types is unknown, returns the other one. If only one of them is optional, the
// result is optional. Other types of different kinds give the unknown type.
Type MergeTypes(const Type& a, const Type& b);

}  // namespace tern
