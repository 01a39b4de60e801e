// Copies the state of variables at the end of a branch or of a loop's body, and merges such states.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "import/torch/script/interpreter.h"

namespace tern::torch::script {

// A copy of an item and of the lists, tuples and dicts in it. Later changes do not affect the copy.
struct Frozen {
  Item item;                  // of a container: its kind and cell
  Value* value = nullptr;     // of a tensor, or of a list whose length the graph computes
  std::vector<Item> keys;     // of a dict: its keys; of an object: the names of its attributes
  std::vector<Frozen> items;  // of a list, tuple, dict or object

  bool container() const {
    return item.list_or_tuple() || item.Is(Item::Kind::kDict) || item.Is(Item::Kind::kObject);
  }
};

// Copies an item. An object is copied only if it is the item itself and `with_object` is true. Objects inside
// the item stay references, because modules contain each other.
Result<Frozen> Freeze(Interpreter& in, const Item& item, bool with_object = false);
// Copies the contents of a cell.
Result<Frozen> FreezeCell(Interpreter& in, Cell* cell);

// Returns whether two states of a variable are known to be equal: equal numbers, or the same tensor.
bool SameLeaf(const Frozen& a, const Frozen& b);

// Joins two values that different branches compute.
using MergeOne = std::function<Result<Value*>(const Frozen& a, const Frozen& b)>;
// Returns the state after two branches. A part that cannot be merged becomes a kConflict.
Result<Item> Merge(Interpreter& in, const Frozen& a, const Frozen& b, const MergeOne& merge_one);
// Merges the contents of one cell, which both branches may have changed. Returns a new cell with them.
Result<Item> MergeContents(Interpreter& in, const Frozen& a, const Frozen& b, const MergeOne& merge_one);
// Returns whether an item contains a kConflict or kUninitialized.
bool HasConflict(const Item& item);

// Returns the value of a tensor, number or list of tensors. Adds constants to `graph` if needed. The value is
// joined with `other`, which determines the type of an empty list or of an uninitialized variable.
Result<Value*> LeafValue(const Frozen& leaf, const Frozen& other, Graph& graph);
// Returns the value as an item of the kind of `like`: a tensor, a number or a list.
Item LeafItem(Interpreter& in, const Frozen& like, Value* value);

// Replaces the contents of a cell by those of another.
void ReplaceContents(Interpreter& in, Cell& cell, const Item& from);

}  // namespace tern::torch::script
