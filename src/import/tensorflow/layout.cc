#include "import/tensorflow/layout.h"

namespace tern::tensorflow {

Value* ToChannelsFirst(Builder& b, Value* x) {
  const int rank = x->type.shape.rank();
  return rank < 3 ? x : b.Op("Transpose", {x}, {{"perm", import::ChannelsFirstPerm(rank)}});
}

Value* ToChannelsLast(Builder& b, Value* x) {
  const int rank = x->type.shape.rank();
  return rank < 3 ? x : b.Op("Transpose", {x}, {{"perm", import::ChannelsLastPerm(rank)}});
}

}  // namespace tern::tensorflow
