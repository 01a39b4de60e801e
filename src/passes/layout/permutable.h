// Finds nodes that support channels last, and emits their form in that layout.
#pragma once
#include <map>
#include <vector>

#include "passes/rewrite/facts.h"
#include "passes/rewrite/views.h"

namespace tern {

// The permutation from [batch, channel axes, spatial axes] to [batch, spatial axes, channel axes]. There is
// one channel axis, or several if a Reshape has split it, as in channel shuffles and attention.
Permutation ToLast(int rank, int channel_axes);

// The channels-last form of a node.
struct LastForm {
  int channel_axes = 1;
  Permutation perm;              // permutation of the operand that determines the layout
  std::vector<Permutation> in;   // permutation of each operand; empty if the operand is unchanged
  std::vector<bool> spread;      // operands to expand to full rank and then permute, because they broadcast
  std::vector<Permutation> out;  // permutation of each result; empty if the result is unchanged
  std::vector<int> out_axes;     // number of channel axes of each result
  Permutation result_perm;       // if the node is a Transpose, its new attribute perm
  std::vector<int64_t> view;     // if the node is a view, the target of the new Reshape
};

// Maps a value to its number of channel axes, where that is not 1. The caller fills the map in graph order.
using ChannelAxes = std::map<const Value*, int>;
int AxesOf(const ChannelAxes& axes, const Value* v);

// The channels-last form of the node; nullopt when the node does not support channels last.
std::optional<LastForm> FormOf(const Node& node, const ChannelAxes& axes);

// Emits the channels-last form of a node before the old node. The caller of Emit has permuted `inputs` as the
// form requires. Emit returns the new outputs, without the indices of a pool if they have no readers.
class LastEmitter {
 public:
  explicit LastEmitter(Node& old) : old_(old) {}
  Result<std::vector<Value*>> Emit(const LastForm& form, std::vector<Value*> inputs);
  // Emits a Transpose, unless perm is the identity.
  Result<Value*> Transposed(Value* v, const Permutation& perm);
  // Adds leading dims of 1 up to `rank`.
  Result<Value*> FullRank(Value* v, int rank);

 private:
  Result<Node*> Add(const OpDef& op, Attrs attrs, const std::vector<Value*>& inputs, int outputs);
  Value* Ints(const std::vector<int64_t>& list) { return old_.graph->AddConstant(Tensor::Ints(list)); }
  Node& old_;
};

}  // namespace tern
