#include "import/tensorflow/layout.h"

namespace tern::tensorflow {

std::vector<int64_t> FirstPerm(int rank) {
  std::vector<int64_t> perm = {0, rank - 1};
  for (int64_t i = 1; i < rank - 1; ++i) perm.push_back(i);
  return perm;
}

std::vector<int64_t> LastPerm(int rank) {
  std::vector<int64_t> perm = {0};
  for (int64_t i = 2; i < rank; ++i) perm.push_back(i);
  perm.push_back(1);
  return perm;
}

Value* ToChannelsFirst(Builder& b, Value* x) {
  const int rank = x->type.shape.rank();
  return rank < 3 ? x : b.Op("Transpose", {x}, {{"perm", FirstPerm(rank)}});
}

Value* ToChannelsLast(Builder& b, Value* x) {
  const int rank = x->type.shape.rank();
  return rank < 3 ? x : b.Op("Transpose", {x}, {{"perm", LastPerm(rank)}});
}

}  // namespace tern::tensorflow
