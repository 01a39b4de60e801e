// A value of MindIR during import. Besides tensors, MindIR passes Python objects between nodes: numbers,
// texts, types, tuples, functions and monads (tokens that order side effects).
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "import/mindir/proto.h"
#include "ir/graph.h"

namespace tern::mindir {

// The limits of a tuple's depth and of its number of leaves. Tuples may share items, so without limits a
// small file could describe any number of leaves.
inline constexpr int kMaxItemDepth = 64;
inline constexpr int64_t kMaxLeaves = 100000;

struct Item {
  enum class Kind : uint8_t {
    kNone,
    kMonad,
    kValue,      // a value of the Tern graph
    kConstant,   // a tensor, or a Python number, that is not in the graph yet
    kText,       // also objects that have no other kind; no converter accepts their text
    kType,       // an element type
    kTuple,      // a tuple or a list
    kFunction,   // a graph or a primitive, with its first arguments
    kSwitch,     // items: a condition, and the functions to call if it is true and if it is false
    kCallAgain,  // the result of a loop's body: the next call of `graph`, with the arguments `items`
    kLeave,  // the result of a body that may leave the loop of `graph`. items: whether the loop goes on, a
             // tuple with the arguments of its next call, and the result if it does not go on
  };
  Kind kind = Kind::kNone;
  bool number = false;  // kConstant: a Python number; kValue: a number that is known at run time only
  DType dtype = DType::kInvalid;
  Value* value = nullptr;
  Tensor constant;
  std::string text;
  std::shared_ptr<const std::vector<Item>> items;
  const pb::GraphProto* graph = nullptr;
  const pb::PrimitiveProto* primitive = nullptr;
  int depth = 0;       // of nested items
  int64_t leaves = 1;  // the number of items without items, counted as often as they occur

  bool is(Kind k) const { return kind == k; }
  bool absent() const { return kind == Kind::kNone; }
  size_t size() const { return items ? items->size() : 0; }
  const Item& operator[](size_t i) const { return (*items)[i]; }

  static Item Of(Value* value);
  static Item Constant(Tensor tensor, bool number);
  static Item Text(std::string text);
  static Item TypeOf(DType dtype);
  static Item Monad();
  static Item Tuple(std::vector<Item> items, Kind kind = Kind::kTuple);
  std::string Describe() const;  // for messages: "a tuple of 2", "f32[3]"
};

// Returns all elements in order if the item is a constant tensor, a number, or a tuple of numbers.
std::optional<std::vector<int64_t>> LongsOf(const Item& item);
std::optional<std::vector<double>> DoublesOf(const Item& item);
// Returns the tensor of a constant, also if it is in the graph already. Returns null for other items, and for
// tensors that have neither numbers nor bools.
const Tensor* ConstantOf(const Item& item);

}  // namespace tern::mindir
