// A value of any kind that a model takes or returns: a tensor, a sequence, a map, or an optional without a
// value. Included by tern/tern.hpp.
//
//   for (size_t row = 0; row < probabilities.size(); ++row)               // the output of a ZipMap
//     for (const auto& [label, p] : probabilities.At(row).ToMap<std::string, float>()) Show(row, label, p);
#pragma once
#include <map>
#include <type_traits>

#include "tern/types.hpp"

namespace tern {
TERN_API_NAMESPACE {
  // A value is immutable, owns its data, and stays valid after the predictor is destroyed. Copies are cheap
  // and share the data. Thread-safe: any number of threads may read the same value.
  class Value {
   public:
    enum class Kind : uint8_t {
      kEmpty,  // no value: default-constructed, an index or key that does not exist, an output before Run
      kTensor,
      kSequence,
      kMap,
      kNone,  // an optional input or output without a value
    };

    Value() = default;

    // Returns a tensor with a copy of `data`, whose elements are in row-major order. Fails if the number of
    // elements does not match the shape.
    template <class T> static Result<Value> TensorOf(const std::vector<T>& data, const Shape& shape) {
      return MakeTensor(data.data(), data.size(), kTypeOf<T>, shape);
    }
    // An overload for std::vector<bool>, which stores bits instead of an array of bool.
    static Result<Value> TensorOf(const std::vector<bool>& data, const Shape& shape);
    // Returns a tensor of one element, with shape [].
    template <class T> static Result<Value> ScalarOf(const T& element) {
      return MakeTensor(&element, 1, kTypeOf<T>, {});
    }
    // Returns a sequence of `items`. Fails if an item is empty, or if its kind or element type differs from
    // that of the first item.
    static Result<Value> SequenceOf(const std::vector<Value>& items);
    // Returns a map in which values[i] is the value of keys[i]. Fails if the numbers of keys and values
    // differ, or if a key occurs twice. Fails if a value is empty, or if its kind or element type differs
    // from that of the first value.
    static Result<Value> MapOf(const std::vector<int64_t>& keys, const std::vector<Value>& values);
    static Result<Value> MapOf(const std::vector<std::string>& keys, const std::vector<Value>& values);
    // Returns a map from keys of type K (int64_t or std::string) to scalars of type T.
    template <class K, class T> static Result<Value> MapOf(const std::map<K, T>& entries) {
      std::vector<K> keys;
      std::vector<Value> values;
      for (const auto& [key, element] : entries) {
        Result<Value> scalar = ScalarOf(element);
        if (!scalar.ok()) return scalar.status();
        keys.push_back(key);
        values.push_back(*scalar);
      }
      return MapOf(keys, values);
    }
    static Value None();

    Kind kind() const;
    bool empty() const { return kind() == Kind::kEmpty; }
    // Returns the type as text, such as "f32[2,3]" or "seq(map(string,f32[]))". The type of an empty value is
    // "unknown". The type of a sequence without items is "seq(unknown)".
    std::string type() const;
    // Returns the number of elements of a tensor, items of a sequence or entries of a map, else 0.
    size_t size() const;

    // Properties of a tensor. For other kinds, dtype() returns kInvalid, shape() returns {}, bytes() returns
    // 0, and data() and raw() return null.
    DType dtype() const;
    Shape shape() const;
    size_t bytes() const;
    // Returns the elements in row-major order, or null if T is not the element type. The pointer is valid
    // while this value or a copy of it lives.
    template <class T> const T* data() const {
      return kTypeOf<T> == dtype() ? static_cast<const T*>(raw()) : nullptr;
    }
    const void* raw() const;
    // Copies a tensor's elements with the conversions of Tensor::CopyTo. Fails if T cannot represent the
    // elements exactly or if this is not a tensor. On failure `out` is unchanged.
    template <class T> Status CopyTo(std::vector<T>& out) const {
      if (Status status = CheckRead(kTypeOf<T>); !status.ok()) return status;
      if (const T* from = data<T>()) {
        out.assign(from, from + size());
      } else if constexpr (std::is_same_v<T, bool>) {
        out.clear();  // CheckRead passed and data() is null, so there are no elements
      } else {
        out.resize(size());
        Read(out.data(), kTypeOf<T>);
      }
      return {};
    }
    // Like CopyTo, but returns a new vector, which is empty if CopyTo fails.
    template <class T> std::vector<T> ToVector() const {
      std::vector<T> out;
      return CopyTo(out).ok() ? out : std::vector<T>();
    }

    // Returns item i of a sequence or value i of a map, or an empty value if i is out of range. The result
    // shares the data of this value; nothing is allocated.
    Value At(size_t i) const;

    // The functions below are for maps. The entries are in the order in which the model stores their keys.
    // The keys of a ZipMap are in ascending order.
    DType key_type() const;  // kI64 or kString; kInvalid when this is not a map
    // Returns the keys, or an empty vector if K is not their type.
    template <class K> std::vector<K> Keys() const {
      const K* from = kTypeOf<K> == key_type() ? static_cast<const K*>(raw_keys()) : nullptr;
      return from ? std::vector<K>(from, from + size()) : std::vector<K>();
    }
    // Returns the value of `key`, or an empty value if the map does not contain `key`.
    Value Find(int64_t key) const;
    Value Find(const std::string& key) const;
    // Copies a map whose values are single elements, with the conversions of Tensor::CopyTo. Fails if this is
    // not a map, if K is not the type of the keys, or if T cannot represent the values exactly. On failure
    // `out` is unchanged.
    template <class K, class T> Status CopyTo(std::map<K, T>& out) const {
      if (Status status = CheckEntries(kTypeOf<K>, kTypeOf<T>); !status.ok()) return status;
      std::map<K, T> entries;
      const std::vector<K> keys = Keys<K>();
      for (size_t i = 0; i < keys.size(); ++i) {
        const Value value = At(i);
        T& element = entries[keys[i]];
        if (const T* from = value.template data<T>())
          element = *from;
        else
          value.Read(&element, kTypeOf<T>);
      }
      out = std::move(entries);
      return {};
    }
    // Like CopyTo, but returns a new map, which is empty if CopyTo fails.
    template <class K, class T> std::map<K, T> ToMap() const {
      std::map<K, T> out;
      return CopyTo(out).ok() ? out : std::map<K, T>();
    }

   private:
    friend class Predictor;
    friend class Tensor;
    friend struct Access;  // for the library's other bindings
    explicit Value(std::shared_ptr<const void> datum) : datum_(std::move(datum)) {}
    template <class F> static Result<Value> Make(F&& body);
    template <class K>
    static Result<Value> MapOfKeys(const std::vector<K>& keys, const std::vector<Value>& values);
    static Result<Value> MakeTensor(const void* data, size_t count, DType type, const Shape& shape);
    const void* raw_keys() const;
    Status CheckRead(DType as) const;  // fails unless this is a tensor whose elements `as` represents exactly
    // Fails unless this is a map with keys of type `key` and single elements that `as` represents exactly.
    Status CheckEntries(DType key, DType as) const;
    void Read(void* out, DType as) const;
    std::shared_ptr<const void> datum_;  // null for an empty value
  };

}  // TERN_API_NAMESPACE
}  // namespace tern
