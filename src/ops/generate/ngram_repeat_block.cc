// NGramRepeatBlock: sets the score of a token to minus infinity if the token would repeat an n-gram.
#include <algorithm>
#include <limits>

#include "ir/eval_context.h"
#include "ir/infer_context.h"

namespace tern {
namespace {

struct NGramRepeatBlock {
  int64_t size = 1;
  template <class V> void Visit(V& v) { v("size", size, "length n of the n-grams"); }
};

Status Infer(const NGramRepeatBlock& op, InferContext& c) {
  if (op.size < 1) return InvalidModel("size is ", op.size, ", but must be at least 1");
  for (const char* port : {"words", "scores"})
    if (c.ShapeOf(port).ranked && c.ShapeOf(port).rank() != 2)
      return InvalidModel("input '", port, "' must have rank 2, got ", c.In(port).ToString());
  c.Out("y", c.In("scores"));
  return {};
}

Status Reference(const NGramRepeatBlock& op, EvalContext& c) {
  const auto tokens = c.Longs("words");
  const Tensor &table = c.In("words"), &scores = c.In("scores");
  if (table.dim(0) != scores.dim(0))
    return InvalidArgument("words has ", table.dim(0), " rows, but scores has ", scores.dim(0));
  const int64_t length = table.dim(1), vocabulary = scores.dim(1), n = op.size;
  auto y = c.Doubles("scores");
  for (int64_t r = 0; r < table.dim(0); ++r) {
    const auto row = tokens.begin() + r * length;
    for (int64_t j = 0; n <= length && j + n <= length; ++j) {
      if (!std::equal(row + length - (n - 1), row + length, row + j)) continue;
      const int64_t w = row[j + n - 1];
      if (w < 0 || w >= vocabulary)
        return InvalidArgument("token ", w, " is outside a vocabulary of ", vocabulary);
      y[static_cast<size_t>(r * vocabulary + w)] = -std::numeric_limits<double>::infinity();
    }
  }
  c.Out("y", scores.dims(), y);
  return {};
}

}  // namespace

TERN_OP(NGramRepeatBlock) {
  return OpDef::Of<NGramRepeatBlock>(
             "a copy of scores, with minus infinity for each token that would repeat an n-gram if it were appended to its row of words")
      .Setting("words", kIndices)
      .In("scores", kFloats)
      .Out("y", kFloats)
      .Flops(No{"a search has no arithmetic"})
      .Batch(kNoKernel)
      .Axes(No{"the axes must be batch and tokens, in this order"})
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
