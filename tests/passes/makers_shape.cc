#include <algorithm>
#include <numeric>

#include "makers.h"

namespace tern {
namespace {

int RankOf(const Value* v) { return v->type.shape.rank(); }

std::vector<int64_t> Shuffled(Grower& g, int rank) {
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  if (g.random().Chance(0.5)) {
    std::swap(perm[static_cast<size_t>(rank - 1)], perm[static_cast<size_t>(rank - 2)]);
    return perm;
  }
  for (int i = rank - 1; i > 0; --i)
    std::swap(perm[static_cast<size_t>(i)], perm[static_cast<size_t>(g.random().Below(i + 1))]);
  return perm;
}

void Transposes(Grower& g) {
  Value* x = g.Float(2, 4);
  if (!x) return;
  Value* y = g.Op("Transpose", {x}, {{"perm", Shuffled(g, RankOf(x))}});
  if (y && g.random().Chance(0.4)) y = g.Unary("relu", y);
  if (y && g.random().Chance(0.4)) y = g.Op("Transpose", {y}, {{"perm", Shuffled(g, RankOf(x))}});
}

void View(Grower& g) {
  Value* x = g.Float(1, 4);
  if (!x) return;
  const int rank = RankOf(x);
  switch (g.random().Below(7)) {
    case 0:
      g.Op("Reshape", {x, g.Ints({-1})});
      return;
    case 1:
      g.Op("Reshape", {x, g.Ints({0, -1})});
      return;
    case 2:
      g.Op("Reshape", {x, g.Ints({0, 0, 2, -1})});
      return;
    case 3:
      g.Op("Unsqueeze", {x, g.Ints({g.random().Below(rank + 1)})});
      return;
    case 4:
      g.Op("Squeeze", {g.Op("Unsqueeze", {x, g.Ints({1})}), g.Ints({g.random().Below(2)})});
      return;
    case 5:
      g.Op("Flatten", {x}, {{"axis", int64_t{g.random().Below(rank + 1)}}});
      return;
    default:
      g.Op("Reshape", {x, g.Ints({-1, 1, g.SizeOf(x, -1) > 0 ? g.SizeOf(x, -1) : 1})});
  }
}

void Slices(Grower& g) {
  Value* x = g.Float(1, 4);
  if (!x) return;
  static const std::vector<int64_t> kStarts = {0, 0, 1, -2, -1}, kEnds = {1, 2, -1, INT64_MAX, 4, INT64_MAX};
  Value* y = x;
  for (int i = g.random().Between(1, 2); i > 0 && y; --i)
    y = g.Op("Slice", {y, g.Ints({g.random().Pick(kStarts)}), g.Ints({g.random().Pick(kEnds)}),
                       g.Ints({g.random().Below(RankOf(x))}), g.Ints({g.random().Chance(0.8) ? 1 : 2})});
}

void Concats(Grower& g) {
  Value* x = g.Float(1, 4);
  if (!x) return;
  Value* y = g.Operand(x);
  std::vector<Value*> parts = {x, y, x};
  if (g.random().Chance(0.5)) parts.pop_back();
  Value* joined = g.Op("Concat", parts, {{"axis", int64_t{g.random().Below(RankOf(x))}}});
  if (joined && g.random().Chance(0.3)) g.Op("Slice", {joined, g.Ints({0}), g.Ints({2}), g.Ints({0})});
}

// Adds a Split into two parts and, with probability 0.8, a Concat of the parts. Before the Concat, the first
// part may be negated, and the parts may be swapped.
void SplitsAndConcats(Grower& g) {
  Value* x = g.Float(1, 4);
  if (!x) return;
  const int axis = g.random().Below(RankOf(x));
  const int64_t size = g.SizeOf(x, axis);
  if (size < 2) return;
  auto parts = g.Ops("Split", {x, g.Ints({1, size - 1})}, {{"axis", int64_t{axis}}}, 2);
  if (g.random().Chance(0.4)) parts[0] = g.Unary("neg", parts[0]);
  if (g.random().Chance(0.3)) std::swap(parts[0], parts[1]);
  if (g.random().Chance(0.8)) g.Op("Concat", parts, {{"axis", int64_t{axis}}});
}

void Gathers(Grower& g) {
  Value* x = g.Float(1, 4);
  if (!x) return;
  static const std::vector<std::vector<int64_t>> kPlaces = {{0}, {0, 1}, {1, 0}, {-1}, {0, 0}, {0, 1, 2}};
  Value* places = g.random().Chance(0.4) ? g.Const(Tensor::Scalar(DType::kI64, g.random().Below(2)))
                                         : g.Ints(g.random().Pick(kPlaces));
  g.Op("Gather", {x, places}, {{"axis", int64_t{g.random().Below(RankOf(x))}}});
}

void Pads(Grower& g) {
  Value* x = g.Float(1, 4);
  if (!x) return;
  std::vector<int64_t> pads(static_cast<size_t>(2 * RankOf(x)), 0);
  for (int i = 0; i < 2; ++i)
    pads[static_cast<size_t>(g.random().Below(2 * RankOf(x)))] = g.random().Below(2);
  g.Op("Pad", {x, g.Ints(pads)});
}

void Expands(Grower& g) {
  Value* x = g.Float(1, 3);
  if (!x) return;
  std::vector<int64_t> ones(static_cast<size_t>(RankOf(x)), 1);
  if (g.random().Chance(0.5)) ones[0] = 2;
  if (g.random().Chance(0.5)) ones.insert(ones.begin(), g.random().Between(1, 2));
  Value* y = g.Op("Expand", {x, g.Ints(ones)});
  if (y && g.random().Chance(0.5)) g.Binary("mul", y, g.Operand(y));
}

void Tiles(Grower& g) {
  Value* x = g.Float(1, 3);
  if (!x) return;
  std::vector<int64_t> repeats(static_cast<size_t>(RankOf(x)), 1);
  repeats[static_cast<size_t>(g.random().Below(RankOf(x)))] = g.random().Between(1, 2);
  g.Op("Tile", {x, g.Ints(repeats)});
}

// Adds Shape, Gather and Concat nodes that compute dims, as exporters write them.
void ByShape(Grower& g) {
  Value* x = g.Float(2, 4);
  if (!x) return;
  Value* shape = g.Op("Shape", {x});
  const auto dim = [&](int i) {
    if (g.random().Chance(0.5)) return g.Op("Slice", {shape, g.Ints({i}), g.Ints({i + 1})});
    return g.Op("Unsqueeze", {g.Op("Gather", {shape, g.Const(Tensor::Scalar(DType::kI64, i))}), g.Ints({0})});
  };
  switch (g.random().Below(4)) {
    case 0:
      g.Op("Reshape", {x, g.Op("Concat", {dim(0), g.Ints({-1})}, {{"axis", int64_t{0}}})});
      return;
    case 1:
      g.Op("Reshape",
           {x, g.Op("Concat", {g.Binary("mul", dim(0), dim(1)), g.Ints({-1})}, {{"axis", int64_t{0}}})});
      return;
    case 2:
      g.Binary("add", x, g.Op("Expand", {g.Scalar(0.5), shape}));
      return;
    default:
      Value* zeros = g.Op("Fill", {shape},
                          {{"value", Tensor::Of(DType::kF32, {1}, {g.random().Chance(0.5) ? 0.0 : 1.0})}});
      g.Binary(g.random().Chance(0.5) ? "mul" : "add", x, zeros);
  }
}

void Identities(Grower& g) { g.Op("Identity", {g.Float()}); }

}  // namespace

std::vector<Maker> ShapeMakers() {
  return {Transposes, Transposes, View,    View,  Slices,  Concats,   SplitsAndConcats,
          Gathers,    Pads,       Expands, Tiles, ByShape, Identities};
}

}  // namespace tern
