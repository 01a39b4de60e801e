// The data of a value at run time: a tensor, a sequence, an optional or a map.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/tensor.h"
#include "core/type.h"

namespace tern {

struct Datum;
using DatumList = std::vector<Datum>;

// The entries of a map. `keys` is an i64 or string tensor of shape [n]. `values` has one Datum per key.
struct MapData {
  Tensor keys;
  DatumList values;
};

struct Datum {
  // kEmpty means that there is no datum. kNone means an optional without a value.
  enum class Kind : uint8_t { kEmpty, kTensor, kSequence, kNone, kMap };
  Kind kind = Kind::kEmpty;
  Tensor tensor;
  std::shared_ptr<const DatumList> sequence;
  std::shared_ptr<const MapData> map;

  Datum() = default;
  Datum(Tensor t) : kind(Kind::kTensor), tensor(std::move(t)) {}  // NOLINT
  static Datum SequenceOf(DatumList items);
  static Datum None();
  static Datum MapOf(Tensor keys, DatumList values);
  bool is_tensor() const { return kind == Kind::kTensor; }
  bool is_sequence() const { return kind == Kind::kSequence; }
  bool is_none() const { return kind == Kind::kNone; }
  std::string Describe() const;
};

// Returns the type of the data. For an optional with a value, this is the type of the value, not an optional
// type.
Type TypeOf(const Datum& datum);

}  // namespace tern
