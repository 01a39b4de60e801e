#include <cmath>

#include "ops/test_graph.h"

namespace tern {
namespace {

Tensor F32(const Dims& dims, const std::vector<double>& values) {
  return Tensor::Of(DType::kF32, dims, values);
}

const AttrList kPlain = {{"kind", "rnn"}, {"activations", std::vector<std::string>{"affine"}}};  // h = x + h

TEST(Rnn, ShortSequencesEndInZeros) {
  const Tensor x = F32({3, 2, 1}, {1, 10, 2, 20, 4, 40}), one = F32({1, 1, 1}, {1});
  const Tensor lengths = Tensor::Of(DType::kI32, {2}, {3, 1});
  EXPECT_EQ(ToDoubles(OutputOf("Rnn", {x, one, one, Tensor(), lengths}, kPlain)),
            (std::vector<double>{1, 10, 3, 0, 7, 0}));
}

TEST(Rnn, ReverseStartsAtEachSequencesEnd) {
  AttrList attrs = kPlain;
  attrs.emplace_back("direction", "reverse");
  const Tensor x = F32({3, 2, 1}, {1, 10, 2, 20, 4, 40}), one = F32({1, 1, 1}, {1});
  const Tensor lengths = Tensor::Of(DType::kI32, {2}, {3, 2});
  EXPECT_EQ(ToDoubles(OutputOf("Rnn", {x, one, one, Tensor(), lengths}, attrs)),
            (std::vector<double>{7, 30, 6, 20, 4, 0}));
}

TEST(Rnn, MistakesAreRefused) {
  const Tensor x = F32({1, 1, 2}, {1, 1}), w = F32({1, 4, 2}, {1, 1, 1, 1, 1, 1, 1, 1}),
               r = F32({1, 4, 1}, {1, 1, 1, 1});
  EXPECT_TRUE(EvaluateOp("Rnn", {x, w, r}).ok());
  EXPECT_FALSE(EvaluateOp("Rnn", {x, w, r}, {{"kind", "gru"}}).ok());
  EXPECT_FALSE(EvaluateOp("Rnn", {x, w, r}, {{"hidden_size", int64_t{2}}}).ok());
  EXPECT_FALSE(EvaluateOp("Rnn", {x, w, r}, {{"direction", "bidirectional"}}).ok());
  EXPECT_FALSE(EvaluateOp("Rnn", {x, w, r}, {{"activations", std::vector<std::string>{"tanh"}}}).ok());
  EXPECT_FALSE(
      EvaluateOp("Rnn", {x, w, r}, {{"activations", std::vector<std::string>{"tanh", "tanh", "sine"}}}).ok());
  EXPECT_FALSE(EvaluateOp("Rnn", {x, w, r, Tensor(), Tensor::Of(DType::kI32, {1}, {2})}).ok());
  EXPECT_FALSE(EvaluateOp("Rnn", {F32({1, 2}, {1, 1}), w, r}).ok());
}

}  // namespace
}  // namespace tern
