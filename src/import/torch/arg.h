// An argument or result of an aten operator.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"

namespace tern::torch {

class TensorVar;  // see tensors.h
using TensorPtr = std::shared_ptr<TensorVar>;

enum class MemoryFormat { kContiguous, kPreserve, kChannelsLast, kChannelsLast3d };

struct Arg {
  enum class Kind {
    kNone,
    kTensor,
    kInt,
    kFloat,
    kBool,
    kString,
    kDType,
    kDevice,
    kLayout,
    kMemoryFormat,
    kList,  // a list or tuple
  };

  Kind kind = Kind::kNone;
  TensorPtr tensor;  // kTensor
  Value* value =
      nullptr;          // kInt, kFloat, kBool: a scalar that the graph computes; null if the number is known
  int64_t integer = 0;  // kInt, kBool
  double real = 0;      // kFloat
  DType dtype = DType::kInvalid;
  MemoryFormat format = MemoryFormat::kContiguous;
  std::string text;        // kString, kDevice
  std::vector<Arg> items;  // kList

  Arg() = default;
  static Arg None() { return {}; }
  static Arg Of(TensorPtr v);
  static Arg Int(int64_t v);
  static Arg Float(double v);
  static Arg Bool(bool v);
  static Arg String(std::string v);
  static Arg Type(DType v);
  static Arg Device(std::string v);
  static Arg Layout();
  static Arg Format(MemoryFormat v);
  static Arg List(std::vector<Arg> v);
  static Arg Ints(const std::vector<int64_t>& v);
  // A number that the graph computes: a tensor of rank 0 with the element type i64, bool or a float type. If
  // inference knows its value, the result is that value.
  static Arg Computed(Value* scalar);

  bool none() const { return kind == Kind::kNone; }
  bool is_tensor() const { return kind == Kind::kTensor; }
  bool list() const { return kind == Kind::kList; }
  bool number() const { return kind == Kind::kInt || kind == Kind::kFloat || kind == Kind::kBool; }
  bool known() const { return number() && !value; }  // a number that does not depend on the model's inputs
  double AsDouble() const { return kind == Kind::kFloat ? real : static_cast<double>(integer); }
  std::string Describe() const;  // "a tensor f32[2,3]", "the int 3", "a list of 2", for messages
};

}  // namespace tern::torch
