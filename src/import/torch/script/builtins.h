// Operators on numbers, texts, lists and dicts, and on properties of tensors. They are computed at import
// time or become scalars of the graph.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/torch/script/interpreter.h"

namespace tern::torch::script {

// Returns nullopt if the builtin does not apply to the arguments. The interpreter then tries the next builtin
// of the same name, and finally the operators on tensors (aten/call.h).
using Builtin = Result<std::optional<Item>> (*)(Interpreter& in, const CallSite& call);
using Outcome = Result<std::optional<Item>>;

class BuiltinTable {
 public:
  void Add(std::string_view op, Builtin builtin) { table_[std::string(op)].push_back(builtin); }
  const std::vector<Builtin>* Find(const std::string& op) const;
  std::vector<std::string> Names() const;

 private:
  std::map<std::string, std::vector<Builtin>> table_;
};

void AddNumberBuiltins(BuiltinTable& table);
void AddMathBuiltins(BuiltinTable& table);
void AddTextBuiltins(BuiltinTable& table);
void AddListBuiltins(BuiltinTable& table);
void AddDictBuiltins(BuiltinTable& table);
void AddTensorBuiltins(BuiltinTable& table);
void AddPrimBuiltins(BuiltinTable& table);

const BuiltinTable& Builtins();

inline Outcome NotMine() { return std::optional<Item>(); }
inline Outcome Done(Item item) { return std::optional<Item>(std::move(item)); }
inline Outcome Done(Result<Item> item) {
  if (!item.ok()) return item.TakeStatus();
  return std::optional<Item>(std::move(*item));
}
inline Outcome Nothing() { return std::optional<Item>(Item()); }

// Return whether two known values are equal; false if one of them is not known.
bool KnownEqual(const Item& a, const Item& b);

}  // namespace tern::torch::script
