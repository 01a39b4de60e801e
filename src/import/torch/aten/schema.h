// The signatures of aten operators: names, kinds and defaults of their arguments, and which arguments share
// memory with results. The files aten/schemas_*.inc contain them as text.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/torch/arg.h"

namespace tern::torch {

struct Parameter {
  enum class Type {
    kTensor,
    kInt,  // also SymInt
    kFloat,
    kScalar,  // int, float or bool
    kBool,
    kString,
    kDType,
    kLayout,
    kDevice,
    kMemoryFormat,
    kOther,  // Generator, Storage and other types, for which Tern accepts only None
  };
  std::string name;
  Type type = Type::kOther;
  bool optional = false;        // may be None
  bool list = false;            // a list of `type`
  bool optional_items = false;  // items of the list may be None
  int64_t length = 0;           // int[2]: a single number stands for a list of this length
  bool keyword_only = false;
  bool has_default = false;
  Arg otherwise;      // the default
  std::string alias;  // names the set of tensors that share memory, such as "a"; empty if there is none
  bool written = false;
};

struct Schema {
  std::string name;      // "aten::add"
  std::string overload;  // "Tensor"; empty for the default overload
  std::vector<Parameter> parameters, returns;

  int Find(std::string_view parameter) const;  // -1 if there is none
  std::string FullName() const;                // "aten::add.Tensor"
};

using Keywords = std::vector<std::pair<std::string, Arg>>;

// Parses "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor".
Result<Schema> ParseSchema(std::string_view text);
// Returns a known schema, or null.
const Schema* FindSchema(std::string_view name, std::string_view overload);
// Returns all overloads of an operator, in the order in which they are tried.
std::vector<const Schema*> OverloadsOf(std::string_view name);

// Assigns arguments to parameters and adds defaults. As PyTorch does, converts an int to a float, a number to
// a list of a fixed length, and the number of a ScalarType, layout or memory format to that type. Fails if an
// argument is missing, unknown, or of another kind. If `exact` is true, needed conversions fail too.
Result<std::vector<Arg>> Bind(const Schema& schema, const std::vector<Arg>& positional,
                              const Keywords& keywords, bool exact = false);
// Returns the first overload that accepts the arguments without conversions. If there is none, returns the
// first one that accepts them with conversions.
Result<const Schema*> Resolve(std::string_view name, const std::vector<Arg>& positional,
                              const Keywords& keywords);

// Returns the element type with this number in c10::ScalarType, which TorchScript uses, or kInvalid.
DType DTypeOfScalarType(int64_t number);

}  // namespace tern::torch
