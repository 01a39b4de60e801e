// Finds nodes that support channels last, and converts them to channels last.
#pragma once
#include <map>
#include <vector>

#include "passes/rewrite/facts.h"
#include "passes/rewrite/views.h"

namespace tern {

// Returns the permutation from [batch, channel axes, spatial axes] to [batch, spatial axes, channel axes].
// `channel_axes` is 1, or more if a Reshape has split the channel axis, as in channel shuffles and attention.
Permutation ToLast(int rank, int channel_axes);

// The channels-last form of a node.
struct LastForm {
  int channel_axes = 1;
  Permutation perm;              // the permutation that ToLast returns for the main operand
  std::vector<Permutation> in;   // permutation of each operand; empty if the operand is unchanged
  std::vector<bool> spread;      // true for operands that are expanded to full rank and then permuted
  std::vector<Permutation> out;  // permutation of each result; empty if the result is unchanged
  std::vector<int> out_axes;     // number of channel axes of each result
  Permutation result_perm;       // if the node is a Transpose, its new attribute perm
  std::vector<int64_t> view;     // if the node is a view, the target of the new Reshape
};

// Maps a value to its number of channel axes. The caller fills the map in graph order. A value that is not in
// the map has one channel axis.
using ChannelAxes = std::map<const Value*, int>;
int AxesOf(const ChannelAxes& axes, const Value* v);

// Returns the channels-last form of the node, or nullopt if the node does not support channels last.
std::optional<LastForm> FormOf(const Node& node, const ChannelAxes& axes);

// Emits the channels-last form of the node `old`, before `old` in the graph. The `inputs` of Emit are already
// permuted as `form` requires. Emit returns the new outputs. If `old` is a pool whose indices have no
// readers, the new node has no output for them.
class LastEmitter {
 public:
  explicit LastEmitter(Node& old) : old_(old) {}
  Result<std::vector<Value*>> Emit(const LastForm& form, std::vector<Value*> inputs);
  // Emits a Transpose. Returns `v` itself if `perm` is the identity.
  Result<Value*> Transposed(Value* v, const Permutation& perm);
  // Adds leading dims of 1 up to `rank`.
  Result<Value*> FullRank(Value* v, int rank);

 private:
  Result<Node*> Add(const OpDef& op, Attrs attrs, const std::vector<Value*>& inputs, int outputs);
  Value* Ints(const std::vector<int64_t>& list) { return old_.graph->AddConstant(Tensor::Ints(list)); }
  Node& old_;
};

}  // namespace tern
