#include "import/tensorflow/ops/elementwise.h"

#include "import/tensorflow/layout.h"

namespace tern::tensorflow {
namespace {

// Returns input i with channels first, for a result of this rank, or null if that needs a transpose of data.
Value* BesideChannelsFirst(TfNode& n, int i, int rank) {
  Edge& edge = n.At(i);
  if (edge.channels_first) return edge.channels_first;
  Value* v = n.In(i);
  const int own = v->type.shape.rank();
  if (own < 0) return nullptr;
  if (own == 0) return v;
  if (own == rank) return v->is_constant() ? n.Transpose(v, import::ChannelsFirstPerm(rank)) : nullptr;
  if (own == 1) {
    // A vector along the channels.
    std::vector<int64_t> axes;
    for (int64_t k = 1; k < rank - 1; ++k) axes.push_back(k);
    return n.Unsqueeze(v, axes);
  }
  return nullptr;
}

// Returns whether the inputs 0 to `count` - 1 can be used with channels first. If so, stores them in
// `values`.
bool ChannelsFirstInputs(TfNode& n, int count, std::vector<Value*>& values) {
  int rank = 0;
  for (int i = 0; i < count; ++i)
    if (n.PrefersChannelsFirst(i)) rank = n.At(i).type().shape.rank();
  if (rank < 3) return false;
  for (int i = 0; i < count; ++i) {
    const int own = n.At(i).type().shape.rank();
    if (own > rank) return false;
    values.push_back(BesideChannelsFirst(n, i, rank));
    if (!values.back()) return false;
  }
  return true;
}

}  // namespace

Status MapInput(TfNode& n, const std::function<Value*(Value*)>& function) {
  if (n.PrefersChannelsFirst(0))
    n.OutChannelsFirst(0, function(n.ChannelsFirst(0)));
  else
    n.Out(0, function(n.In(0)));
  return {};
}

Status MapInputs(TfNode& n, const std::function<Value*(Value*, Value*)>& function) {
  std::vector<Value*> v;
  if (ChannelsFirstInputs(n, 2, v))
    n.OutChannelsFirst(0, function(v[0], v[1]));
  else
    n.Out(0, function(n.In(0), n.In(1)));
  return {};
}

Status MapInputs3(TfNode& n, const std::function<Value*(Value*, Value*, Value*)>& function) {
  std::vector<Value*> v;
  if (ChannelsFirstInputs(n, 3, v))
    n.OutChannelsFirst(0, function(v[0], v[1], v[2]));
  else
    n.Out(0, function(n.In(0), n.In(1), n.In(2)));
  return {};
}

}  // namespace tern::tensorflow
