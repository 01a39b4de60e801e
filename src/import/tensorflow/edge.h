// The contents of an edge of a TensorFlow graph.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tern::tensorflow {

// A variable, a lookup table or another object that a handle refers to. Restoring and initialising a model
// fills these objects at import.
struct Resource {
  enum class Kind { kVariable, kTable, kArray, kOther };
  Kind kind = Kind::kOther;
  std::string name;
  // For a variable: its key in the bundle, its tensor, or the constant that its readers get.
  std::string key;
  Tensor tensor;
  bool complex = false;
  Value* value = nullptr;
  // For a table: keys and values, and the value for missing keys if the table defines one.
  Tensor keys, values, otherwise;
  // For an array of tensors: the type of an element.
  DType dtype = DType::kInvalid;
  Shape element;
};

// A tensor, a list of tensors or a handle. A tensor of 3 to 5 dims may exist in two layouts: the layout of
// TensorFlow, and a layout with the last axis (channels) moved to axis 1. The importer emits a layout when it
// is first needed.
struct Edge {
  Value* value = nullptr;
  Value* channels_first = nullptr;
  bool complex = false;  // the last axis holds real and imaginary parts
  std::shared_ptr<Resource> resource;
  bool reference = false;  // a variable of TF1, which readers use like a tensor
  // A list of tensors is a sequence. If `stacked` is true, `value` is a tensor instead, whose first axis
  // counts the elements. `reserved` is the length (i64[1]) of a list whose elements have an unknown rank and
  // are not set yet.
  bool stacked = false;
  Value* reserved = nullptr;

  Edge() = default;
  Edge(Value* v) : value(v) {}  // NOLINT: implicit on purpose
  static Edge Complex(Value* v) {
    Edge e(v);
    e.complex = true;
    return e;
  }
  bool present() const { return value || channels_first || resource; }
  const Type& type() const;  // of `value`, or of `channels_first` if only that exists
};

}  // namespace tern::tensorflow
