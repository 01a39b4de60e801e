// Col2Im: adds blocks into an image; overlapping blocks are summed.
#include "ops/image/col2im.h"

#include "ir/batch_items.h"
#include "ir/op_cost.h"
#include "ops/shape/axes.h"
#include "ops/shape/each_index.h"

namespace tern {
namespace {

Status FillDefaults(Col2ImGeometry& g, size_t spatial) {
  if (g.dilations.empty()) g.dilations.assign(spatial, 1);
  if (g.strides.empty()) g.strides.assign(spatial, 1);
  if (g.pads.empty()) g.pads.assign(2 * spatial, 0);
  if (g.dilations.size() != spatial || g.strides.size() != spatial || g.pads.size() != 2 * spatial)
    return InvalidModel("dilations, strides and pads have ", g.dilations.size(), ", ", g.strides.size(),
                        " and ", g.pads.size(), " entries for ", spatial, " dims");
  constexpr int64_t kMax = int64_t{1} << 40;
  for (const auto* list : {&g.dilations, &g.strides})
    for (int64_t v : *list)
      if (v < 1 || v > kMax)
        return InvalidModel("a dilation or stride is ", v, ", but must be from 1 to ", kMax);
  for (int64_t v : g.pads)
    if (v < 0 || v > kMax) return InvalidModel("a pad is ", v, ", but must be from 0 to ", kMax);
  return {};
}

Result<Dims> BlockCounts(const Col2ImGeometry& g, const Dims& image, const Dims& block) {
  constexpr int64_t kMax = int64_t{1} << 40;
  Dims counts;
  for (size_t i = 0; i < image.size(); ++i) {
    if (image[i] < 0 || block[i] < 1 || image[i] > kMax || block[i] > (kMax / g.dilations[i]))
      return InvalidArgument("image_shape[", i, "]=", image[i], " or block_shape[", i, "]=", block[i],
                             " is out of range");
    const int64_t span =
        image[i] + g.pads[i] + g.pads[i + image.size()] - g.dilations[i] * (block[i] - 1) - 1;
    counts.push_back(span < 0 ? 0 : span / g.strides[i] + 1);
  }
  return counts;
}

struct Col2Im {
  std::vector<int64_t> dilations, pads, strides;
  template <class V> void Visit(V& v) {
    v("dilations", dilations, "distance between elements of a block; empty means 1");
    v("pads", pads, "pads of the image at the start of each axis, then at the end of each; empty means 0");
    v("strides", strides, "distance between blocks; empty means 1");
  }
};

Status Infer(const Col2Im& op, InferContext& c) {
  for (const char* port : {"image_shape", "block_shape"}) TERN_TRY(RequireVector(c, port));
  const Shape& x = c.ShapeOf("x");
  if (x.ranked && x.rank() != 3) return InvalidModel("x must be [N, C·block, blocks], got ", x.ToString());
  const auto image = c.ContentOf("image_shape"), block = c.ContentOf("block_shape");
  Col2ImGeometry g{op.dilations, op.pads, op.strides};
  if (image) TERN_TRY(FillDefaults(g, image->size()));
  const int spatial = image ? static_cast<int>(image->size()) : KnownLength(c.ShapeOf("image_shape"));
  if (spatial < 0) {
    c.Out("y", c.TypeOf("x"), Shape());
    return {};
  }
  std::vector<Dim> dims(static_cast<size_t>(spatial) + 2);
  if (x.ranked) dims[0] = x[0];
  if (x.ranked && block) dims[1] = FloorDiv(x[1], ProductOf(*block, 0, static_cast<int>(block->size())));
  for (int i = 0; image && i < spatial; ++i)
    dims[static_cast<size_t>(i) + 2] = (*image)[static_cast<size_t>(i)];
  c.Out("y", c.TypeOf("x"), Shape(std::move(dims)));
  return {};
}

Status Reference(const Col2Im& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  const Dims image = c.Longs("image_shape"), block = c.Longs("block_shape");
  Col2ImGeometry g{op.dilations, op.pads, op.strides};
  TERN_ASSIGN(const Dims counts, Col2ImBlocks(g, x.dims(), image, block));
  const int64_t area = CountOf(block), blocks = CountOf(counts);
  Dims dims = {x.dim(0), x.dim(1) / area};
  dims.insert(dims.end(), image.begin(), image.end());
  Tensor& y = c.Out("y", dims);
  const Dims strides = ContiguousStrides(image);
  const int64_t plane = CountOf(image);
  std::vector<double> sums(static_cast<size_t>(y.size()));
  for (int64_t channel = 0; channel < dims[0] * dims[1]; ++channel)
    EachIndex(block, [&](int64_t within, const Dims& offset) {
      EachIndex(counts, [&](int64_t position, const Dims& at) {
        int64_t to = channel * plane;
        for (size_t i = 0; i < image.size(); ++i) {
          const int64_t p = at[i] * g.strides[i] - g.pads[i] + offset[i] * g.dilations[i];
          if (p < 0 || p >= image[i]) return;
          to += p * strides[i];
        }
        sums[static_cast<size_t>(to)] += LoadDouble(x, (channel * area + within) * blocks + position);
      });
    });
  FromDoubles(sums, y);
  return {};
}

bool Col2ImBatch(BatchItems& b) { return b.Items(0) && b.Fixed(1) && b.Fixed(2); }

}  // namespace

Result<Dims> Col2ImBlocks(Col2ImGeometry& g, const Dims& x, const Dims& image, const Dims& block) {
  if (image.size() != block.size())
    return InvalidArgument("image_shape has ", image.size(), " entries, but block_shape has ", block.size());
  TERN_TRY(FillDefaults(g, image.size()));
  TERN_ASSIGN(Dims counts, BlockCounts(g, image, block));
  const auto area = CheckedCount(block, DType::kI8), blocks = CheckedCount(counts, DType::kI8);
  if (!area || !blocks || x[1] % *area != 0 || x[2] != *blocks)
    return InvalidArgument("x is [", Join(x, ","), "], which does not match blocks of [", Join(block, ","),
                           "] at [", Join(counts, ","), "] positions");
  return counts;
}

TERN_OP(Col2Im) {
  return OpDef::Of<Col2Im>(
             "the reverse of im2col: each column of x is a block, which is added to its place in the image")
      .In("x", kNumbers)
      .Setting("image_shape", kIndices)
      .Setting("block_shape", kIndices)
      .Out("y", kNumbers)
      .Flops(PerInput(1))
      .Batch(Col2ImBatch)
      .Axes(No{"axis 1 contains both channels and positions in a block"})
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
