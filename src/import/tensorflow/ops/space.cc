// Converts operators that move data between the channels, the batch and the spatial axes.
#include "import/tensorflow/ops/window.h"

namespace tern::tensorflow {
namespace {

Status Depth(TfNode& n, const char* op) {
  TERN_ASSIGN(const bool first, IsChannelsFirst(n));
  AttrList attrs = {{"block", n.Int("block_size")}};
  if (op == std::string_view("DepthToSpace")) attrs.emplace_back("mode", "DCR");
  WindowOutput(n, 0, n.Op(op, {WindowInput(n, 0, first)}, attrs), first);
  return {};
}

// Returns a dim of x as i64[1].
Value* D(TfNode& n, Value* x, int64_t axis) { return n.DimOf(x, axis); }

// [N, s1, …, sm, rest] becomes [N * b1 * … * bm, s1 / b1, …, sm / bm, rest].
Value* ToBatch(TfNode& n, Value* x, const std::vector<int64_t>& block, int rank) {
  const auto m = static_cast<int64_t>(block.size());
  std::vector<Value*> wide = {D(n, x, 0)}, out;
  std::vector<int64_t> perm;
  int64_t count = 1;
  for (int64_t i = 0; i < m; ++i) {
    const int64_t b = block[static_cast<size_t>(i)];
    wide.push_back(n.Binary("div", D(n, x, i + 1), n.b.Ints({b})));
    wide.push_back(n.b.Ints({b}));
    perm.push_back(2 * i + 2);
    count *= b;
  }
  perm.push_back(0);
  for (int64_t i = 0; i < m; ++i) perm.push_back(2 * i + 1);
  out.push_back(n.Binary("mul", D(n, x, 0), n.b.Ints({count})));
  for (int64_t i = 0; i < m; ++i) out.push_back(wide[static_cast<size_t>(2 * i + 1)]);
  for (int64_t i = m + 1; i < rank; ++i) {
    perm.push_back(i + m);
    wide.push_back(D(n, x, i));
    out.push_back(D(n, x, i));
  }
  Value* y = n.Op("Reshape", {x, n.Concat(wide, 0)}, {{"allow_zero", true}});
  return n.Op("Reshape", {n.Transpose(y, perm), n.Concat(out, 0)}, {{"allow_zero", true}});
}

Value* FromBatch(TfNode& n, Value* x, const std::vector<int64_t>& block, int rank) {
  const auto m = static_cast<int64_t>(block.size());
  std::vector<Value*> wide, out;
  std::vector<int64_t> perm = {m};
  int64_t count = 1;
  for (const int64_t b : block) {
    wide.push_back(n.b.Ints({b}));
    count *= b;
  }
  Value* batch = n.Binary("div", D(n, x, 0), n.b.Ints({count}));
  wide.push_back(batch);
  out.push_back(batch);
  for (int64_t i = 0; i < m; ++i) {
    wide.push_back(D(n, x, i + 1));
    perm.push_back(m + 1 + i);
    perm.push_back(i);
    out.push_back(n.Binary("mul", D(n, x, i + 1), n.b.Ints({block[static_cast<size_t>(i)]})));
  }
  for (int64_t i = m + 1; i < rank; ++i) {
    wide.push_back(D(n, x, i));
    perm.push_back(m + i);
    out.push_back(D(n, x, i));
  }
  Value* y = n.Op("Reshape", {x, n.Concat(wide, 0)}, {{"allow_zero", true}});
  return n.Op("Reshape", {n.Transpose(y, perm), n.Concat(out, 0)}, {{"allow_zero", true}});
}

Status CheckBlock(TfNode& n, const std::vector<int64_t>& block, int rank) {
  if (static_cast<int>(block.size()) >= rank)
    return n.Bad("the block has ", block.size(), " axes, but the input has ", rank);
  for (const int64_t b : block)
    if (b < 1 || b > (1 << 20)) return n.Bad("a block of ", b);
  return {};
}

Status SpaceToBatch(TfNode& n, const std::vector<int64_t>& block, int pads_input) {
  TERN_ASSIGN(const int rank, n.RankOf(0));
  TERN_TRY(CheckBlock(n, block, rank));
  Value* widths = n.Vector(n.Transpose(n.In(pads_input), {1, 0}));
  std::vector<int64_t> axes;
  for (size_t i = 0; i < block.size(); ++i) axes.push_back(static_cast<int64_t>(i) + 1);
  Value* padded = n.Op("Pad", {n.In(0), widths, nullptr, n.b.Ints(axes)});
  n.Out(0, ToBatch(n, padded, block, rank));
  return {};
}

Status BatchToSpace(TfNode& n, const std::vector<int64_t>& block, int crops_input) {
  TERN_ASSIGN(const int rank, n.RankOf(0));
  TERN_TRY(CheckBlock(n, block, rank));
  Value* y = FromBatch(n, n.In(0), block, rank);
  Value* widths = n.Vector(n.Transpose(n.In(crops_input), {1, 0}));
  std::vector<int64_t> axes;
  for (size_t i = 0; i < block.size(); ++i) axes.push_back(static_cast<int64_t>(i) + 1);
  n.Out(0, n.Op("Pad", {y, n.Unary("neg", widths), nullptr, n.b.Ints(axes)}));
  return {};
}

}  // namespace

TERN_CONVERTERS(space) {
  table.Add("DepthToSpace", [](TfNode& n) { return Depth(n, "DepthToSpace"); });
  table.Add("SpaceToDepth", [](TfNode& n) { return Depth(n, "SpaceToDepth"); });
  table.Add("SpaceToBatchND", [](TfNode& n) -> Status {
    TERN_ASSIGN(const auto block, n.Longs(1, "block_shape"));
    return SpaceToBatch(n, block, 2);
  });
  table.Add("SpaceToBatch", [](TfNode& n) {
    return SpaceToBatch(n, {n.Int("block_size"), n.Int("block_size")}, 1);
  });
  table.Add("BatchToSpaceND", [](TfNode& n) -> Status {
    TERN_ASSIGN(const auto block, n.Longs(1, "block_shape"));
    return BatchToSpace(n, block, 2);
  });
  table.Add("BatchToSpace", [](TfNode& n) {
    return BatchToSpace(n, {n.Int("block_size"), n.Int("block_size")}, 1);
  });
}

}  // namespace tern::tensorflow
