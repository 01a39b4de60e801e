// Helpers for rules that fold one constant per channel into the weights and the bias of a Conv, ConvTranspose
// or MatMul. An example is the constant c of Conv(x, w) * c.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "passes/rewrite/rewrite.h"

namespace tern {

struct Channels {
  Node* node = nullptr;
  Value *x = nullptr, *weights = nullptr;
  Value* bias = nullptr;     // null if the node has no bias
  int64_t count = 0;         // output channels
  int rank = -1, axis = -1;  // rank of the result, and its channel axis
};

// Describes the node that produces y. The node must be an `op` in the graph of the root, with constant float
// weights, without an epilogue and with a known number of channels. y must have one reader. Otherwise calls
// Skip with the reason and returns nullopt.
std::optional<Channels> ChannelsOf(Rewrite& r, Value* y, std::string_view op);

// Returns the constant as a vector of 1 or `count` elements. Calls Skip with the reason and returns null when
// the value is not a constant of the type of the weights, has several elements along another axis, or
// broadcasts the result to a larger shape.
Value* PerChannel(Rewrite& r, const Channels& c, Value* constant);

// Returns the weights times `factor`. `factor` is a vector of 1 or `count` elements, one per output channel.
Value* ScaledWeights(Rewrite& r, const Channels& c, Value* factor);
// Returns the constant bias, or zeros if there is no bias. Calls Skip with the reason and returns null when
// the bias is not constant.
Value* BiasOf(Rewrite& r, const Channels& c);

// Emits the node with other weights and bias.
Value* WithWeights(Rewrite& r, const Channels& c, Value* weights, Value* bias);

// True if every number of the list is v.
bool AllAre(const std::vector<int64_t>& list, int64_t v);
// True if the Conv has no padding.
bool Unpadded(const Attrs& conv);
// Copies the activation attributes of one Conv or MatMul to another.
void CopyEpilogue(const Attrs& from, Attrs& to);

// Each of these functions emits one node.
inline Value* Add(Rewrite& r, Value* a, Value* b) { return r.Op("Binary", {a, b}, {{"kind", "add"}}); }
inline Value* Sub(Rewrite& r, Value* a, Value* b) { return r.Op("Binary", {a, b}, {{"kind", "sub"}}); }
inline Value* Mul(Rewrite& r, Value* a, Value* b) { return r.Op("Binary", {a, b}, {{"kind", "mul"}}); }
inline Value* Div(Rewrite& r, Value* a, Value* b) { return r.Op("Binary", {a, b}, {{"kind", "div"}}); }
inline Value* Neg(Rewrite& r, Value* a) { return r.Op("Unary", {a}, {{"kind", "neg"}}); }
inline Value* Reshape(Rewrite& r, Value* a, const Dims& dims) { return r.Op("Reshape", {a, r.Ints(dims)}); }
inline Value* Transpose(Rewrite& r, Value* a, const Dims& perm) {
  return r.Op("Transpose", {a}, {{"perm", perm}});
}
inline Value* SumOver(Rewrite& r, Value* a, const Dims& axes) {
  return r.Op("Reduce", {a, r.Ints(axes)}, {{"kind", "sum"}, {"keep_dims", false}});
}

// The constants of x * factor + shift.
struct Affine {
  Value *factor = nullptr, *shift = nullptr;
};
// Expresses a BatchNorm as x * factor + shift. If a parameter of the BatchNorm is not constant or is not of
// type `dtype`, calls Skip with the reason and returns false.
bool AffineOf(Rewrite& r, const Node& batch_norm, DType dtype, Affine& out);

}  // namespace tern
