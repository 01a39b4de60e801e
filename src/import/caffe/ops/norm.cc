// Converts normalisations, and the layers that scale and shift channels.
#include <cmath>

#include "import/caffe/ops/emit.h"
#include "import/caffe/ops/pool.h"

namespace tern::caffe {
namespace {

Result<int64_t> ChannelsOf(const Layer& n) {
  TERN_ASSIGN(const int rank, n.RankOf(0));
  if (rank < 2) return n.Bad("the bottom must have at least 2 axes, got ", rank);
  const Dim& channels = n.In(0)->type.shape[1];
  if (!channels.known()) return n.NotYet("the number of channels must be known");
  return channels.value();
}

Dims AllAxesBut(int rank, int kept) {
  Dims axes;
  for (int i = 0; i < rank; ++i)
    if (i != kept) axes.push_back(i);
  return axes;
}

// (x - mean) / sqrt(variance + eps) with the mean and variance along axes
Value* Normalized(Layer& n, Value* x, const Dims& axes, double eps) {
  Value* centred = Binary(n, "sub", x, Reduced(n, "mean", x, axes));
  Value* variance = Reduced(n, "mean", Binary(n, "mul", centred, centred), axes);
  return Binary(n, "div", centred, Unary(n, "sqrt", Affine(n, variance, 1, eps)));
}

Tensor Filled(int64_t count, float value) {
  Tensor t(DType::kF32, {count});
  std::fill_n(t.data<float>(), count, value);
  return t;
}

// Blobs 0 and 1 are sums of means and of variances; blob 2 is the divisor (1 without a blob 2).
Status BatchNorm(Layer& n) {
  const auto& p = n.proto.batch_norm_param();
  TERN_ASSIGN(const int64_t channels, ChannelsOf(n));
  if (p.has_use_global_stats() && !p.use_global_stats()) {
    TERN_ASSIGN(const int rank, n.RankOf(0));
    n.Out(0, Normalized(n, n.In(0), AllAxesBut(rank, 1), p.eps()));
    return {};
  }
  TERN_ASSIGN(Tensor mean, n.Blob(0, {channels}));
  TERN_ASSIGN(Tensor variance, n.Blob(1, {channels}));
  float count = 1;
  if (n.BlobCount() != 2) {
    TERN_ASSIGN(const Tensor factor, n.Blob(2, {1}));
    count = factor.data<float>()[0];
  }
  const float scale = count == 0 ? 0 : 1 / count;
  if (scale != 1) {
    mean = mean.Clone();
    variance = variance.Clone();
    for (int64_t i = 0; i < channels; ++i) mean.data<float>()[i] *= scale;
    for (int64_t i = 0; i < channels; ++i) variance.data<float>()[i] *= scale;
  }
  Tensor gamma = Filled(channels, 1), beta = Filled(channels, 0);
  if (n.BlobCount() == 5) {  // NVIDIA's fork stores the scale and the bias in the same layer
    TERN_ASSIGN(gamma, n.Blob(3, {channels}));
    TERN_ASSIGN(beta, n.Blob(4, {channels}));
  } else if (p.scale_bias()) {
    return n.Bad("scale_bias needs 5 blobs of weights, got ", n.BlobCount());
  }
  n.Out(0, n.b.Op("BatchNorm",
                  {n.In(0), n.b.Const(std::move(gamma)), n.b.Const(std::move(beta)),
                   n.b.Const(std::move(mean)), n.b.Const(std::move(variance))},
                  {{"epsilon", static_cast<double>(p.eps())}}));
  return {};
}

// Converts the BN layers of SegNet, with the blobs scale and shift, and of PSPNet, with the blobs scale,
// shift, mean and variance.
Status Bn(Layer& n) {
  TERN_ASSIGN(const int64_t channels, ChannelsOf(n));
  TERN_ASSIGN(Value* const gamma, n.BlobValue(0, {channels}));
  TERN_ASSIGN(Value* const beta, n.BlobValue(1, {channels}));
  if (n.BlobCount() == 2) {
    if (n.proto.bn_param().has_bn_mode() && n.proto.bn_param().bn_mode() != pb::BNParameter::INFERENCE)
      return n.NotYet("bn_mode LEARN; use INFERENCE");
    n.Out(0, n.b.Op("Scale", {n.In(0), gamma, beta}));
    return {};
  }
  if (n.BlobCount() != 4) return n.Bad("needs 2 or 4 blobs of weights, got ", n.BlobCount());
  TERN_ASSIGN(Value* const mean, n.BlobValue(2, {channels}));
  TERN_ASSIGN(Value* const variance, n.BlobValue(3, {channels}));
  n.Out(0, n.b.Op("BatchNorm", {n.In(0), gamma, beta, mean, variance},
                  {{"epsilon", static_cast<double>(n.proto.bn_param().eps())}}));
  return {};
}

// Returns the dims of the weights of a Scale or Bias layer. These are `num_axes` dims of x from `axis` on. If
// `num_axes` is -1, they are all dims from `axis` on.
Result<Dims> ScaledDims(const Layer& n, int axis, int num_axes) {
  TERN_ASSIGN(const Dims dims, n.DimsOf(0));
  const int rank = static_cast<int>(dims.size());
  if (num_axes < -1 || (num_axes >= 0 && axis + num_axes > rank))
    return n.Bad("num_axes ", num_axes, " from axis ", axis, " exceeds the ", rank, " axes of the bottom");
  return Dims(dims.begin() + axis, num_axes == -1 ? dims.end() : dims.begin() + axis + num_axes);
}

// Appends dims of size 1, so that axis 0 of v corresponds to `axis` of a tensor of `rank` axes.
Value* AlignedTo(Layer& n, Value* v, int axis, int rank) {
  const int own = v->type.shape.rank();
  Dims axes;
  for (int i = own; i < rank - axis; ++i) axes.push_back(i);
  return axes.empty() ? v : n.b.Op("Unsqueeze", {v, n.b.Ints(axes)});
}

// With one bottom, blob 0 is the scale and blob 1 the bias. With two bottoms, the second bottom is the scale,
// and blob 0 the bias.
Status Scale(Layer& n) {
  const auto& p = n.proto.scale_param();
  TERN_ASSIGN(const int rank, n.RankOf(0));
  const bool given = n.Bottoms() == 2;
  TERN_ASSIGN(const int second_rank, given ? n.RankOf(1) : Result<int>(-1));
  // A scale of rank 0 applies to all elements, whatever `axis` is.
  TERN_ASSIGN(const int axis, n.AxisIn(rank, given && second_rank == 0 ? 0 : p.axis(), true));
  const int count = given ? second_rank : p.num_axes();
  TERN_ASSIGN(const Dims dims, ScaledDims(n, axis, count));
  Value *scale = given ? n.In(1) : nullptr, *bias = nullptr;
  if (!given) {
    TERN_ASSIGN(scale, n.BlobValue(0, dims));
  }
  if (p.bias_term()) {
    TERN_ASSIGN(bias, n.BlobValue(given ? 0 : 1, dims));
  }
  if (dims.size() == 1 && !given) {
    n.Out(0, n.b.Op("Scale", {n.In(0), scale, bias}, {{"axis", axis}}));
    return {};
  }
  Value* y = Binary(n, "mul", n.In(0), AlignedTo(n, scale, axis, rank));
  n.Out(0, bias ? Binary(n, "add", y, AlignedTo(n, bias, axis, rank)) : y);
  return {};
}

Status Bias(Layer& n) {
  const auto& p = n.proto.bias_param();
  TERN_ASSIGN(const int rank, n.RankOf(0));
  const bool given = n.Bottoms() == 2;
  TERN_ASSIGN(const int second_rank, given ? n.RankOf(1) : Result<int>(-1));
  TERN_ASSIGN(const int axis, n.AxisIn(rank, given && second_rank == 0 ? 0 : p.axis(), true));
  TERN_ASSIGN(const Dims dims, ScaledDims(n, axis, given ? second_rank : p.num_axes()));
  Value* bias = given ? n.In(1) : nullptr;
  if (!given) {
    TERN_ASSIGN(bias, n.BlobValue(0, dims));
  }
  n.Out(0, Binary(n, "add", n.In(0), AlignedTo(n, bias, axis, rank)));
  return {};
}

// Within a channel, Caffe averages the squares over a square window and always adds 1.
Result<Value*> LrnWithinChannel(Layer& n, const pb::LRNParameter& p) {
  TERN_ASSIGN(const int rank, n.RankOf(0));
  if (rank != 4) return n.Bad("the bottom has ", rank, " axes, but must have 4");
  const int64_t size = p.local_size(), pad = (size - 1) / 2;
  PoolParams pool;
  pool.pool = pb::PoolingParameter::AVE;
  pool.kernel = {size, size};
  pool.stride = {1, 1};
  pool.pad = {pad, pad};
  TERN_ASSIGN(Value* const mean, Pooled(n, Binary(n, "mul", n.In(0), n.In(0)), pool));
  Value* factor = Binary(n, "pow", Affine(n, mean, p.alpha(), 1), Number(n, -p.beta()));
  return Binary(n, "mul", n.In(0), factor);
}

Status Lrn(Layer& n) {
  const auto& p = n.proto.lrn_param();
  if (p.local_size() % 2 == 0 || p.local_size() > INT32_MAX)
    return n.Bad("local_size is ", p.local_size(), ", but must be odd");
  if (p.norm_region() == pb::LRNParameter::WITHIN_CHANNEL) {
    TERN_ASSIGN(Value* const y, LrnWithinChannel(n, p));
    n.Out(0, y);
    return {};
  }
  n.Out(0, n.b.Op("Lrn", {n.In(0)},
                  {{"size", static_cast<int64_t>(p.local_size())},
                   {"alpha", static_cast<double>(p.alpha())},
                   {"beta", static_cast<double>(p.beta())},
                   {"bias", static_cast<double>(p.k())}}));
  return {};
}

// Subtracts the mean. If normalize_variance is set, divides by the standard deviation plus eps. Caffe adds
// eps outside the square root.
Status Mvn(Layer& n) {
  const auto& p = n.proto.mvn_param();
  TERN_ASSIGN(const int rank, n.RankOf(0));
  if (rank < 2) return n.Bad("the bottom must have at least 2 axes, got ", rank);
  Dims axes;
  for (int i = p.across_channels() ? 1 : 2; i < rank; ++i) axes.push_back(i);
  if (axes.empty()) return n.NotYet("a bottom without spatial axes");
  Value* centred = Binary(n, "sub", n.In(0), Reduced(n, "mean", n.In(0), axes));
  if (p.normalize_variance()) {
    Value* variance = Reduced(n, "mean", Binary(n, "mul", centred, centred), axes);
    centred = Binary(n, "div", centred, Affine(n, Unary(n, "sqrt", variance), 1, p.eps()));
  }
  n.Out(0, centred);
  return {};
}

// The layer Normalize of SSD divides by the L2 norm of the channels of each position. If across_spatial is
// set, it divides by the L2 norm of the item.
Status Normalize(Layer& n) {
  const auto& p = n.proto.norm_param();
  TERN_ASSIGN(const int64_t channels, ChannelsOf(n));
  TERN_ASSIGN(const int rank, n.RankOf(0));
  Dims axes;
  for (int i = 1; i < (p.across_spatial() ? rank : 2); ++i) axes.push_back(i);
  Value* squares = Reduced(n, "sum_square", n.In(0), axes);
  Value* y = Binary(n, "div", n.In(0), Unary(n, "sqrt", Affine(n, squares, 1, p.eps())));
  TERN_ASSIGN(Tensor scale, n.Blob(0, {p.channel_shared() ? 1 : channels}));
  if (p.channel_shared())
    n.Out(0, Affine(n, y, scale.data<float>()[0], 0));
  else
    n.Out(0, n.b.Op("Scale", {y, n.b.Const(std::move(scale))}));
  return {};
}

}  // namespace

TERN_CONVERTERS(norm) {
  table.Add("BatchNorm", BatchNorm);
  table.Add("Bias", Bias, {1, 2, 1, 1});
  table.Add("BN", Bn);
  table.Add("LRN", Lrn);
  table.Add("MVN", Mvn);
  table.Add("Normalize", Normalize);
  table.Add("Scale", Scale, {1, 2, 1, 1});
}

}  // namespace tern::caffe
