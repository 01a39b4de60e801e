// Arrays with numpy's functions, on Tern's kernels. Names, broadcasting, type promotion and results are
// numpy's.
//
//   namespace np = tern::np;
//   np::Array x = np::array<float>({1, 2, 3, 4, 5, 6}, {2, 3});
//   np::Array y = (x - np::mean(x, 0)) / np::std(x, 0);
//   np::Array z = np::matmul(y, np::transpose(y));
//   if (!z.ok()) return Fail(z.status().message());
//   const double* first = z.data<double>();  // null: the type is f32
// No function throws. A failed function returns an array whose status() is the error. Every function of such
// an array fails with the same error, so one check at the end of a computation is enough. An Array is
// immutable and thread-safe; copies are cheap and share the elements. Element types are f32, f64, i32, i64,
// u8 and bool. A C++ number in place of an array adapts to the type of the other operand, as a Python number
// does. docs/guide/np.md lists the differences from numpy.
#pragma once
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tern/types.hpp"

namespace tern {
TERN_API_NAMESPACE {
  namespace np {

  constexpr int64_t none = INT64_MIN;  // an omitted bound of a slice, an omitted axis

  // The elements start, start + step, ... before stop, with Python's rules for negative and omitted bounds.
  struct Slice {
    int64_t start = none, stop = none, step = 1;
  };
  inline Slice slice(int64_t stop) { return {none, stop, 1}; }
  inline Slice slice(int64_t start, int64_t stop, int64_t step = 1) { return {start, stop, step}; }
  inline Slice all() { return {}; }
  struct NewAxis {};
  struct Ellipsis {};
  constexpr NewAxis newaxis{};
  constexpr Ellipsis ellipsis{};

  // One part of an index: an integer, a slice, newaxis or ellipsis.
  struct Index {
    enum class Kind : uint8_t { kInteger, kSlice, kNewAxis, kEllipsis };
    template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
    Index(T i) : kind(Kind::kInteger), range{static_cast<int64_t>(i), 0, 1} {}  // NOLINT: implicit on purpose
    Index(Slice s) : kind(Kind::kSlice), range(s) {}                            // NOLINT
    Index(NewAxis) : kind(Kind::kNewAxis) {}                                    // NOLINT
    Index(Ellipsis) : kind(Kind::kEllipsis) {}                                  // NOLINT
    Kind kind;
    Slice range;
  };

  class Array {
   public:
    Array();  // f64[0]
    // A number without a type of its own: i + 1 is i32 if i is i32. np::scalar returns a number with a type.
    template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
    Array(T value)  // NOLINT: implicit on purpose
        : Array(std::is_same_v<T, bool>       ? DType::kBool
                : std::is_floating_point_v<T> ? DType::kF64
                                              : DType::kI64,
                static_cast<double>(value), std::is_floating_point_v<T> ? 0 : static_cast<int64_t>(value)) {}

    bool ok() const { return status().ok(); }
    const Status& status() const;
    DType dtype() const;         // kInvalid for an error
    const Shape& shape() const;  // {} for an error
    int64_t ndim() const { return static_cast<int64_t>(shape().size()); }
    int64_t size() const;  // number of elements; 0 for an error
    // Returns the elements in row-major order, or null if T is not the element type. The pointer is valid
    // while this array or a copy of it lives.
    template <class T> const T* data() const {
      return kTypeOf<T> == dtype() ? static_cast<const T*>(raw()) : nullptr;
    }
    const void* raw() const;
    // Returns the only element, converted to T; 0 if there is not exactly one. If T is an integer type, a
    // float is converted to int64_t first: out of range it saturates, and NaN becomes 0.
    template <class T> T item() const {
      if constexpr (std::is_floating_point_v<T>) return static_cast<T>(ItemDouble());
      return static_cast<T>(ItemLong());
    }
    // Returns the elements in row-major order, converted to T; no elements for an error.
    template <class T> std::vector<T> to_vector() const {
      const Array converted = astype(kTypeOf<T>);
      const T* from = converted.template data<T>();
      return from ? std::vector<T>(from, from + converted.size()) : std::vector<T>();
    }
    std::string str() const;  // "f32[2,2] [[1, 2], [3, 4]]", or the error

    Array astype(DType dtype) const;
    template <class T> Array astype() const { return astype(kTypeOf<T>); }
    Array reshape(const Shape& shape) const;  // one dim may be -1
    Array T() const;                          // the axes in reverse order
    // Basic indexing: a(0), a(all(), slice(1, none, 2)), a(ellipsis, -1), a(newaxis).
    template <class... I> Array operator()(const I&... indices) const { return Get({Index(indices)...}); }
    Array Get(const std::vector<Index>& indices) const;
    Array operator[](int64_t i) const { return Get({Index(i)}); }
    // `index` is a bool mask with the shape of the leading axes, or an array of integers, which index the
    // first axis.
    Array operator[](const Array& index) const;

   private:
    friend struct Access;
    struct Rep;
    Array(DType dtype, double value, int64_t integer);
    explicit Array(std::shared_ptr<const Rep> rep) : rep_(std::move(rep)) {}
    double ItemDouble() const;
    int64_t ItemLong() const;
    std::shared_ptr<const Rep> rep_;
  };

  // One axis, several axes, or all axes if none is given. A negative axis counts from the end.
  struct Axis {
    Axis() = default;
    Axis(int axis) : list{axis} {}                                      // NOLINT: implicit on purpose
    Axis(int64_t axis) : list(axis == none ? Shape{} : Shape{axis}) {}  // NOLINT
    Axis(std::initializer_list<int64_t> axes) : list(axes) {}           // NOLINT
    std::vector<int64_t> list;
  };

  // Creation.
  namespace internal {
  Array FromElements(const void* data, size_t count, DType dtype, const Shape* shape);
  Array FromBits(const std::vector<bool>& data, const Shape* shape);
  Array ArangeF64(double start, double stop, double step);
  Array ArangeI64(int64_t start, int64_t stop, int64_t step);
  }  // namespace internal
  // Copy elements, which are in row-major order. Without a shape, the result has one axis.
  template <class T> Array array(const std::vector<T>& data) {
    return internal::FromElements(data.data(), data.size(), kTypeOf<T>, nullptr);
  }
  template <class T> Array array(const std::vector<T>& data, const Shape& shape) {
    return internal::FromElements(data.data(), data.size(), kTypeOf<T>, &shape);
  }
  template <class T> Array array(const T* data, const Shape& shape) {
    size_t count = 1;
    for (const int64_t dim : shape) count *= dim > 0 ? static_cast<size_t>(dim) : 0;
    return internal::FromElements(data, count, kTypeOf<T>, &shape);
  }
  inline Array array(const std::vector<bool>& data) { return internal::FromBits(data, nullptr); }
  inline Array array(const std::vector<bool>& data, const Shape& shape) {
    return internal::FromBits(data, &shape);
  }
  template <class T> Array scalar(T value) {
    return internal::FromElements(&value, 1, kTypeOf<T>, nullptr).reshape({});
  }
  Array zeros(const Shape& shape, DType dtype = DType::kF64);
  Array ones(const Shape& shape, DType dtype = DType::kF64);
  Array full(const Shape& shape, const Array& value);  // `value` broadcasts to the shape
  Array zeros_like(const Array& a);
  Array ones_like(const Array& a);
  Array full_like(const Array& a, const Array& value);
  // The elements are i64 if all arguments are integers, else f64.
  template <class A, class B, class C = int> Array arange(A start, B stop, C step = 1) {
    constexpr bool kFloats =
        std::is_floating_point_v<A> || std::is_floating_point_v<B> || std::is_floating_point_v<C>;
    if constexpr (kFloats)
      return internal::ArangeF64(static_cast<double>(start), static_cast<double>(stop),
                                 static_cast<double>(step));
    else
      return internal::ArangeI64(static_cast<int64_t>(start), static_cast<int64_t>(stop),
                                 static_cast<int64_t>(step));
  }
  template <class A> Array arange(A stop) { return arange(A{0}, stop, A{1}); }
  Array linspace(double start, double stop, int64_t count = 50, bool endpoint = true);
  Array eye(int64_t rows, int64_t columns = none, int64_t k = 0, DType dtype = DType::kF64);
  Array diag(const Array& a, int64_t k = 0);
  Array tri(int64_t rows, int64_t columns = none, int64_t k = 0, DType dtype = DType::kF64);
  Array tril(const Array& a, int64_t k = 0);
  Array triu(const Array& a, int64_t k = 0);
  std::vector<Array> meshgrid(const std::vector<Array>& axes);  // indexing="xy"

  // Types.
  DType result_type(const std::vector<Array>& arrays);

  // Arithmetic.
  Array add(const Array& a, const Array& b);
  Array subtract(const Array& a, const Array& b);
  Array multiply(const Array& a, const Array& b);
  Array divide(const Array& a, const Array& b);
  Array floor_divide(const Array& a, const Array& b);
  Array mod(const Array& a, const Array& b);   // the sign of b
  Array fmod(const Array& a, const Array& b);  // the sign of a
  Array power(const Array& a, const Array& b);
  Array maximum(const Array& a, const Array& b);
  Array minimum(const Array& a, const Array& b);
  Array arctan2(const Array& a, const Array& b);
  Array hypot(const Array& a, const Array& b);
  Array negative(const Array& a);
  inline Array operator+(const Array& a, const Array& b) { return add(a, b); }
  inline Array operator-(const Array& a, const Array& b) { return subtract(a, b); }
  inline Array operator*(const Array& a, const Array& b) { return multiply(a, b); }
  inline Array operator/(const Array& a, const Array& b) { return divide(a, b); }
  inline Array operator%(const Array& a, const Array& b) { return mod(a, b); }
  inline Array operator-(const Array& a) { return negative(a); }

  // Comparisons and logic.
  Array equal(const Array& a, const Array& b);
  Array not_equal(const Array& a, const Array& b);
  Array less(const Array& a, const Array& b);
  Array less_equal(const Array& a, const Array& b);
  Array greater(const Array& a, const Array& b);
  Array greater_equal(const Array& a, const Array& b);
  Array logical_and(const Array& a, const Array& b);
  Array logical_or(const Array& a, const Array& b);
  Array logical_xor(const Array& a, const Array& b);
  Array logical_not(const Array& a);
  Array bitwise_and(const Array& a, const Array& b);
  Array bitwise_or(const Array& a, const Array& b);
  Array bitwise_xor(const Array& a, const Array& b);
  Array bitwise_not(const Array& a);
  Array left_shift(const Array& a, const Array& b);
  Array right_shift(const Array& a, const Array& b);
  Array isclose(const Array& a, const Array& b, double rtol = 1e-5, double atol = 1e-8);
  bool allclose(const Array& a, const Array& b, double rtol = 1e-5, double atol = 1e-8);
  bool array_equal(const Array& a, const Array& b);
  inline Array operator==(const Array& a, const Array& b) { return equal(a, b); }
  inline Array operator!=(const Array& a, const Array& b) { return not_equal(a, b); }
  inline Array operator<(const Array& a, const Array& b) { return less(a, b); }
  inline Array operator<=(const Array& a, const Array& b) { return less_equal(a, b); }
  inline Array operator>(const Array& a, const Array& b) { return greater(a, b); }
  inline Array operator>=(const Array& a, const Array& b) { return greater_equal(a, b); }
  inline Array operator&(const Array& a, const Array& b) { return bitwise_and(a, b); }
  inline Array operator|(const Array& a, const Array& b) { return bitwise_or(a, b); }
  inline Array operator^(const Array& a, const Array& b) { return bitwise_xor(a, b); }
  inline Array operator~(const Array& a) { return bitwise_not(a); }

  // Functions of one array. Functions such as exp give floats: f32 for f32, u8 and bool, else f64.
  Array abs(const Array& a);
  Array sign(const Array& a);
  Array square(const Array& a);
  Array sqrt(const Array& a);
  Array cbrt(const Array& a);
  Array reciprocal(const Array& a);
  Array exp(const Array& a);
  Array exp2(const Array& a);
  Array expm1(const Array& a);
  Array log(const Array& a);
  Array log2(const Array& a);
  Array log10(const Array& a);
  Array log1p(const Array& a);
  Array sin(const Array& a);
  Array cos(const Array& a);
  Array tan(const Array& a);
  Array arcsin(const Array& a);
  Array arccos(const Array& a);
  Array arctan(const Array& a);
  Array sinh(const Array& a);
  Array cosh(const Array& a);
  Array tanh(const Array& a);
  Array arcsinh(const Array& a);
  Array arccosh(const Array& a);
  Array arctanh(const Array& a);
  Array floor(const Array& a);
  Array ceil(const Array& a);
  Array trunc(const Array& a);
  Array rint(const Array& a);
  Array round(const Array& a, int decimals = 0);  // to even
  Array isnan(const Array& a);
  Array isinf(const Array& a);
  Array isfinite(const Array& a);
  Array clip(const Array& a, const Array& low, const Array& high);
  Array where(const Array& condition, const Array& a, const Array& b);

  // Reductions.
  Array sum(const Array& a, const Axis& axis = {}, bool keepdims = false);
  Array prod(const Array& a, const Axis& axis = {}, bool keepdims = false);
  Array mean(const Array& a, const Axis& axis = {}, bool keepdims = false);
  Array var(const Array& a, const Axis& axis = {}, bool keepdims = false, int64_t ddof = 0);
  Array std(const Array& a, const Axis& axis = {}, bool keepdims = false, int64_t ddof = 0);
  Array min(const Array& a, const Axis& axis = {}, bool keepdims = false);
  Array max(const Array& a, const Axis& axis = {}, bool keepdims = false);
  Array any(const Array& a, const Axis& axis = {}, bool keepdims = false);
  Array all(const Array& a, const Axis& axis, bool keepdims = false);
  Array all(const Array& a);
  Array count_nonzero(const Array& a, const Axis& axis = {}, bool keepdims = false);
  Array argmin(const Array& a, int64_t axis = none, bool keepdims = false);
  Array argmax(const Array& a, int64_t axis = none, bool keepdims = false);
  Array median(const Array& a, int64_t axis = none, bool keepdims = false);
  Array cumsum(const Array& a, int64_t axis = none);
  Array cumprod(const Array& a, int64_t axis = none);
  Array diff(const Array& a, int64_t n = 1, int64_t axis = -1);

  // Shapes.
  Array reshape(const Array& a, const Shape& shape);
  Array ravel(const Array& a);
  Array transpose(const Array& a, const Shape& axes = {});  // {}: in reverse order
  Array swapaxes(const Array& a, int64_t first, int64_t second);
  Array moveaxis(const Array& a, int64_t from, int64_t to);
  Array expand_dims(const Array& a, const Axis& axis);
  Array squeeze(const Array& a, const Axis& axis = {});
  Array broadcast_to(const Array& a, const Shape& shape);
  Array concatenate(const std::vector<Array>& arrays, int64_t axis = 0);
  Array stack(const std::vector<Array>& arrays, int64_t axis = 0);
  Array vstack(const std::vector<Array>& arrays);
  Array hstack(const std::vector<Array>& arrays);
  std::vector<Array> split(const Array& a, int64_t sections, int64_t axis = 0);        // equal parts
  std::vector<Array> split(const Array& a, const Shape& positions, int64_t axis = 0);  // cut at positions
  Array flip(const Array& a, const Axis& axis = {});
  Array roll(const Array& a, int64_t shift, int64_t axis = none);
  Array tile(const Array& a, const Shape& repetitions);
  Array repeat(const Array& a, int64_t repeats, int64_t axis = none);
  // `widths` has the numbers of elements before and after each axis; one pair serves all axes. Modes:
  // constant, edge, reflect, symmetric, wrap.
  Array pad(const Array& a, const std::vector<std::pair<int64_t, int64_t>>& widths,
            const std::string& mode = "constant", const Array& value = 0);

  // Indexing and order.
  Array take(const Array& a, const Array& indices, int64_t axis = none);
  Array take_along_axis(const Array& a, const Array& indices, int64_t axis);
  std::vector<Array> nonzero(const Array& a);  // one array of i64 per axis
  Array flatnonzero(const Array& a);
  Array argwhere(const Array& a);
  Array sort(const Array& a, int64_t axis = -1);     // NaN last; `none` sorts all elements
  Array argsort(const Array& a, int64_t axis = -1);  // stable
  struct Unique {
    Array values;   // the distinct elements, sorted
    Array index;    // the first position of each value
    Array inverse;  // for each element, its position in `values`
    Array counts;   // the number of occurrences of each value
  };
  Unique unique_all(const Array& a);
  Array unique(const Array& a);
  Array searchsorted(const Array& sorted, const Array& values, bool right = false);
  Array bincount(const Array& a, int64_t minlength = 0);

  // Products.
  Array matmul(const Array& a, const Array& b);
  Array dot(const Array& a, const Array& b);
  Array outer(const Array& a, const Array& b);
  Array tensordot(const Array& a, const Array& b, int64_t axes = 2);
  Array einsum(const std::string& subscripts, const std::vector<Array>& operands);
  Array trace(const Array& a);  // of the first two axes

  // Linear algebra. Matrices are the last two axes. Results are f32 for f32, else f64. All functions compute
  // in f64, except norm, which computes in the type of its result.
  namespace linalg {
  Array solve(const Array& a, const Array& b);
  Array inv(const Array& a);
  Array det(const Array& a);
  Array cholesky(const Array& a);
  struct Qr {
    Array q, r;
  };
  Qr qr(const Array& a);  // reduced
  struct Eigh {
    Array eigenvalues;   // ascending
    Array eigenvectors;  // in columns
  };
  Eigh eigh(const Array& a);  // of the lower triangle
  struct Svd {
    Array u, s, vh;  // s is descending
  };
  Svd svd(const Array& a);  // reduced
  // Without an axis, returns the norm of all elements; along an axis, the norms of its vectors. Order 2 is
  // the Euclidean norm, infinity the largest magnitude, and 0 the number of nonzero elements.
  Array norm(const Array& a, double order = 2, const Axis& axis = {}, bool keepdims = false);
  }  // namespace linalg

  // Random numbers by xoshiro256++. Its initial state is four outputs of SplitMix64 with the seed. The same
  // seed gives the same numbers on every machine, but not numpy's numbers. Not thread-safe.
  class Random {
   public:
    explicit Random(uint64_t seed);
    Array uniform(const Shape& shape, double low = 0, double high = 1);  // f64: (bits >> 11) * 2^-53, scaled
    Array normal(const Shape& shape, double mean = 0, double deviation = 1);  // f64, by Box and Muller
    Array integers(const Shape& shape, int64_t low, int64_t high);            // i64 in [low, high)
    Array permutation(int64_t n);                                             // i64: 0 to n - 1, shuffled

   private:
    uint64_t Next();
    uint64_t Below(uint64_t limit);
    uint64_t state_[4];
  };

  }  // namespace np
}  // TERN_API_NAMESPACE
}  // namespace tern
