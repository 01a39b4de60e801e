// Converts matrix products and the addition of a bias.
#include "import/mindir/ops/emit.h"
#include "import/mindir/ops/window.h"

namespace tern::mindir {
namespace {

Status MatMul(MindNode& n) {
  TERN_TRY(Require(n, 0));
  TERN_TRY(Require(n, 1));
  n.Out(n.b.Op("MatMul", {n.In(0), n.In(1)},
               {{"transpose_a", n.Bool(2, {"transpose_a", "transpose_x1", "adj_x"})},
                {"transpose_b", n.Bool(3, {"transpose_b", "transpose_x2", "adj_y"})}}));
  return {};
}

// Adds a vector along the channels, which are axis 1, or the last axis in the format NHWC.
Status BiasAdd(MindNode& n) {
  TERN_TRY(Require(n, 0));
  TERN_TRY(RequireRank(n, 0, 2));
  Emit e(n);
  Value* bias = n.In(1);
  if (!IsChannelsLast(n, 2)) {
    std::vector<int64_t> axes;
    for (int i = 1; i < n.RankOf(0) - 1; ++i) axes.push_back(i);
    if (!axes.empty()) bias = e.Unsqueeze(bias, axes);
  }
  n.Out(e.Add(n.In(0), bias));
  return {};
}

}  // namespace

TERN_CONVERTERS(matmul) {
  for (const char* name : {"MatMul", "BatchMatMul"}) table.Add(name, MatMul);
  table.Add("BiasAdd", BiasAdd);
}

}  // namespace tern::mindir
