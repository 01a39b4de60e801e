// A converter is a small function that converts one aten operator to Tern ops. ConverterTable contains all of
// them.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "import/torch/aten/schema.h"
#include "import/torch/tensors.h"

namespace tern::torch {

// A call of an aten operator during import. A converter reads its arguments by the names of the schema, emits
// Tern ops through `b`, and returns its results with Out. Arguments that the call omits have their default.
class AtenNode {
 public:
  AtenNode(TorchContext& context, Builder& builder, const Schema& signature, std::vector<Arg> arguments);

  Builder& b;
  TorchContext& context;
  const Schema& schema;

  bool HasParameter(std::string_view name) const { return schema.Find(name) >= 0; }
  const Arg& Get(std::string_view name) const;  // None if the schema has no such parameter
  bool Has(std::string_view name) const { return !Get(name).none(); }

  // Return the value of a tensor argument, or null if it is None. A number becomes a scalar: i64, f32 or
  // bool.
  Value* In(std::string_view name) const;
  std::vector<Value*> Ins(std::string_view name) const;  // a list of tensors; null for an item that is None
  Value* ValueOf(const Arg& arg) const;
  TensorVar* Var(std::string_view name) const;  // null if the argument is not a tensor
  DType TypeOf(std::string_view name) const;    // the element type of a tensor; kInvalid if it is None
  int RankOf(std::string_view name) const;      // -1 if unknown

  // Return a number of the call. If the graph computes it or it is of another kind, these functions report an
  // error to `b` and return 0. If the argument is None, they return `otherwise`.
  int64_t Int(std::string_view name, int64_t otherwise = 0) const;
  double Float(std::string_view name, double otherwise = 0) const;
  bool Bool(std::string_view name, bool otherwise = false) const;
  std::string Text(std::string_view name, std::string otherwise = "") const;
  DType Type(std::string_view name, DType otherwise = DType::kInvalid) const;
  std::vector<int64_t> Ints(std::string_view name) const;  // empty if None
  std::vector<double> Floats(std::string_view name) const;

  // Sets the results of the operator.
  void Out(Value* value);                           // one tensor
  void Out(const std::vector<Value*>& values);      // several tensors
  void OutList(const std::vector<Value*>& values);  // one list of tensors
  void Return(Arg result) { results_.push_back(std::move(result)); }
  std::vector<Arg>& results() { return results_; }

  // Bad returns kInvalidModel and NotYet returns kUnsupported, with a message that names this operator.
  template <class... A> Status Bad(const A&... a) const {
    return Status(Code::kInvalidModel, Describe() + ": " + StrCat(a...));
  }
  template <class... A> Status NotYet(const A&... a) const {
    return Status(Code::kUnsupported, Describe() + ": " + StrCat(a...));
  }
  std::string Describe() const;

  std::string name, origin;  // of the node in the model, for messages

 private:
  std::vector<Arg> args_;
  std::vector<Arg> results_;
};

using Converter = std::function<Status(AtenNode&)>;

// Maps an operator such as "aten::add", or one overload such as "aten::add.Scalar", to a converter. In-place
// operators ("aten::add_") and operators with an argument `out` need no converter of their own: Call converts
// them like the functional operator and writes the result.
class ConverterTable {
 public:
  void Add(const char* op, Converter converter);
  const Converter* Find(std::string_view op, std::string_view overload) const;
  std::vector<std::string> Names() const;

 private:
  std::map<std::string, Converter, std::less<>> table_;
};

const ConverterTable& Converters();

}  // namespace tern::torch

// Defines the converters of one source file. The build finds these definitions and registers the converters.
// Example: TERN_CONVERTERS(elementwise) { table.Add("aten::abs", …); }
#define TERN_CONVERTERS(Family) void TernConverters_##Family([[maybe_unused]] ConverterTable& table)
