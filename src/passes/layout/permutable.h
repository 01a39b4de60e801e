// Ops that can work on images with the channels last, and what becomes of them then.
#pragma once
#include <map>
#include <vector>

#include "passes/rewrite/facts.h"
#include "passes/rewrite/views.h"

namespace tern {

// A value's dims are [batch, channel axes, spatial axes]; "last" is [batch, spatial axes, channel axes].
// There is one channel axis unless a Reshape has parted it, as channel shuffles and attention do.
Permutation ToLast(int rank, int channel_axes);

// How a node works with the channels last.
struct LastForm {
  int channel_axes = 1;
  Permutation perm;              // of the first operand
  std::vector<Permutation> in;   // operands that come permuted; empty: as they are
  std::vector<bool> spread;      // operands that broadcast: given all dims of the result, then permuted
  std::vector<Permutation> out;  // results that are permuted; empty: they stay as they are
  std::vector<int> out_axes;     // channel axes of the results
  Permutation result_perm;       // Transpose: its perm then
  std::vector<int64_t> view;     // Reshape and its like: what Reshape is told then
};

// The channel axes of values that have not one; filled by FormOf as it goes through a graph in order.
using ChannelAxes = std::map<const Value*, int>;
int AxesOf(const ChannelAxes& axes, const Value* v);

// Nothing when the node has no such form.
std::optional<LastForm> FormOf(const Node& node, const ChannelAxes& axes);

// Adds the node in its form before the old one; `inputs` are in the order that the form asks for. Returns
// its outputs, which are as many as the old node has, or those that are read.
class LastEmitter {
 public:
  explicit LastEmitter(Node& old) : old_(old) {}
  Result<std::vector<Value*>> Emit(const LastForm& form, std::vector<Value*> inputs);
  // A value under other dims.
  Result<Value*> Transposed(Value* v, const Permutation& perm);
  // With ones in front.
  Result<Value*> FullRank(Value* v, int rank);

 private:
  Result<Node*> Add(const OpDef& op, Attrs attrs, const std::vector<Value*>& inputs, int outputs);
  Value* Ints(const std::vector<int64_t>& list) { return old_.graph->AddConstant(Tensor::Ints(list)); }
  Node& old_;
};

}  // namespace tern
