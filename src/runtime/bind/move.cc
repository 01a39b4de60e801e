// Binds ops that only move elements to their CPU kernels.
#include "kernels/cpu/move/copy.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/support/width.h"
#include "ops/support/channels_last.h"
#include "runtime/bind/support.h"

namespace tern {
namespace {

bool Movable(const KernelQuery& q) { return cpu::WidthOf(q.InType(0)) > 0 && RankFits(q.InDims(0)); }

// Base class of kernels that consist of one strided copy. Resize plans the copy.
template <class T> class StridedMove : public KernelOf<T> {
 public:
  Status Run(RunContext& c) override {
    cpu::Copy(plan_, c.In(0).raw(), c.Out(0).raw(), cpu::WidthOf(c.In(0).dtype()), c.workers());
    return {};
  }

 protected:
  cpu::StridedCopy plan_;
};

class Transpose : public StridedMove<Transpose> {
 public:
  Status Resize(ResizeContext& c) override {
    const Dims& x = c->InDims(0);
    const auto from = cpu::PackedSteps(x), to = cpu::PackedSteps(c->OutDims(0));
    if (perm_.empty()) perm_ = c->attrs().Ints("perm");
    plan_ = {};
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t axis = perm_.empty() ? x.size() - 1 - i : AxisOf(perm_[i], x.size());
      plan_.Add({x[axis], from[axis], to[i]});
    }
    return {};
  }

 private:
  std::vector<int64_t> perm_;
};

// SpaceToDepth and DepthToSpace as one strided copy over six axes.
class Blocks : public StridedMove<Blocks> {
 public:
  static bool Legal(const KernelQuery& q) { return cpu::WidthOf(q.InType(0)) > 0 && q.InRank(0) == 4; }
  Status Resize(ResizeContext& c) override {
    // The variables channel, pixel, row and sample are strides of the input.
    const ChannelOrder order{c->attrs().Bool("channels_last")};
    const Dims x = order.ToChannelsFirst(c->InDims(0));
    const int64_t b = c->attrs().Int("block"), channels = x[1], h = x[2], w = x[3];
    const int64_t channel = order.channels_last ? 1 : h * w, pixel = order.channels_last ? channels : 1;
    const int64_t row = w * pixel, sample = channels * h * w;
    Dims loop, from;  // sizes of the loops in the order of the output, and strides of the input
    if (c->op().name == "SpaceToDepth") {
      loop = {x[0], b, b, channels, h / b, w / b};
      from = {sample, row, pixel, channel, b * row, b * pixel};
      if (order.channels_last) Rotate(loop, from, 1, 4, 6);
    } else {
      const bool dcr = c->attrs().Text("mode") == "DCR";
      const int64_t depth = channels / (b * b);
      loop = {x[0], depth, h, b, w, b};
      from = {sample, dcr ? channel : b * b * channel, row, dcr ? b * depth * channel : b * channel,
              pixel,  dcr ? depth * channel : channel};
      if (order.channels_last) Rotate(loop, from, 1, 2, 6);
    }
    const Dims to = ContiguousStrides(loop);
    plan_ = {};
    for (size_t i = 0; i < loop.size(); ++i) plan_.Add({loop[i], from[i], to[i]});
    return {};
  }

 private:
  // Applies std::rotate to both lists.
  static void Rotate(Dims& loop, Dims& from, int first, int middle, int last) {
    for (Dims* d : {&loop, &from}) std::rotate(d->begin() + first, d->begin() + middle, d->begin() + last);
  }
};

// Concat and Split. The full tensor consists of parts along an axis. Concat writes the full tensor, and Split
// reads it.
class ConcatSplit : public KernelOf<ConcatSplit> {
 public:
  Status Resize(ResizeContext& c) override {
    concat_ = c->op().name == "Concat";
    const Dims& full = concat_ ? c->OutDims(0) : c->InDims(0);
    const size_t axis = AxisOf(c->attrs().Int("axis"), full.size());
    const int64_t outer = CountFrom(full, 0, axis), inner = CountFrom(full, axis + 1, full.size()),
                  row = full[axis] * inner;
    int64_t at = 0;
    plans_.clear();
    for (const TensorInfo& part : concat_ ? c->inputs : c->outputs) {
      cpu::StridedCopy plan;
      if (part.dtype == DType::kInvalid) return InvalidArgument("a part of ", c->op().name, " is missing");
      const int64_t n = part.dims[axis] * inner;
      if (at + n > row)
        return InvalidArgument("parts along axis ", axis, " are longer than its ", full[axis], " elements");
      plan.Add({outer, concat_ ? n : row, concat_ ? row : n});
      plan.Add({n, 1, 1});
      (concat_ ? plan.to : plan.from) = at;
      at += n;
      plans_.push_back(plan);
    }
    return {};
  }
  Status Run(RunContext& c) override {
    const int width = cpu::WidthOf(c.In(0).dtype());
    for (size_t i = 0; i < plans_.size(); ++i) {
      const int k = static_cast<int>(i);
      cpu::Copy(plans_[i], c.In(concat_ ? k : 0).raw(), c.Out(concat_ ? 0 : k).raw(), width, c.workers());
    }
    return {};
  }

 private:
  bool concat_ = true;
  std::vector<cpu::StridedCopy> plans_;
};

class Slice : public KernelOf<Slice> {
 public:
  // Starts, axes and steps are read in each run, because they need not be constant.
  Status Run(RunContext& c) override {
    const Tensor &x = c.In(0), &y = c.Out(0);
    const int64_t rank = x.rank();
    std::array<int64_t, cpu::kMaxRank> start{}, step;
    step.fill(1);
    for (int64_t i = 0; i < c.In(1).size(); ++i) {
      const int64_t given = c.Has(3) ? LoadLong(c.In(3), i) : i, axis = given < 0 ? given + rank : given;
      if (axis < 0 || axis >= rank)
        return InvalidArgument("axis ", given, " is outside [", -rank, ", ", rank, ")");
      const auto k = static_cast<size_t>(axis);
      step[k] = c.Has(4) ? LoadLong(c.In(4), i) : 1;
      start[k] = First(LoadLong(c.In(1), i), step[k], x.dims()[k]);
    }
    cpu::StridedCopy plan;
    int64_t from_step = x.size(), to_step = y.size();
    for (size_t k = 0; k < x.dims().size(); ++k) {
      const int64_t size = y.dims()[k];
      from_step = x.dims()[k] ? from_step / x.dims()[k] : 0, to_step = size ? to_step / size : 0;
      const int64_t end = start[k] + (size - 1) * (size > 1 ? step[k] : 0);
      if (size && (start[k] < 0 || start[k] >= x.dims()[k] || end < 0 || end >= x.dims()[k]))
        return InvalidArgument("a slice of ", size, " elements from index ", start[k], " with step ", step[k],
                               " is outside axis ", k, " of size ", x.dims()[k]);
      plan.from += start[k] * from_step;
      plan.Add({size, size > 1 ? from_step * step[k] : 0, to_step});
    }
    cpu::Copy(plan, x.raw(), y.raw(), cpu::WidthOf(x.dtype()), c.workers());
    return {};
  }

 private:
  static int64_t First(int64_t start, int64_t step, int64_t dim) {
    start = std::clamp(start, -dim - 1, dim + 1);
    if (start < 0) start += dim;
    return std::min(std::max<int64_t>(start, 0), step > 0 ? dim : dim - 1);
  }
};

class Expand : public KernelOf<Expand> {
 public:
  static bool Legal(const KernelQuery& q) { return cpu::WidthOf(q.InType(0)) > 0 && RankFits(q.OutDims(0)); }
  Status Resize(ResizeContext& c) override {
    plan_ = cpu::MakeBroadcast<1>(c->OutDims(0), {c->InDims(0)});
    return {};
  }
  Status Run(RunContext& c) override {
    cpu::BroadcastCopy(plan_, c.In(0).raw(), c.Out(0).raw(), cpu::WidthOf(c.In(0).dtype()), c.workers());
    return {};
  }

 private:
  cpu::Broadcast<1> plan_;
};

class Tile : public StridedMove<Tile> {
 public:
  static bool Legal(const KernelQuery& q) { return Movable(q) && q.InRank(0) <= cpu::kMaxRank / 2; }
  Status Resize(ResizeContext& c) override {
    const Dims &x = c->InDims(0), &y = c->OutDims(0);
    const auto from = cpu::PackedSteps(x), to = cpu::PackedSteps(y);
    plan_ = {};
    for (size_t i = 0; i < x.size(); ++i) {
      plan_.Add({x[i] ? y[i] / x[i] : 0, 0, to[i] * x[i]});
      plan_.Add({x[i], from[i], to[i]});
    }
    return {};
  }
};

class Trilu : public KernelOf<Trilu> {
 public:
  Status Resize(ResizeContext& c) override {
    upper_ = c->attrs().Bool("upper");
    return {};
  }
  Status Run(RunContext& c) override {
    const Tensor& x = c.In(0);
    const int64_t rows = x.dim(-2), columns = x.dim(-1), width = cpu::WidthOf(x.dtype());
    const int64_t k = std::clamp(c.Has(1) ? LoadLong(c.In(1), 0) : 0, -rows - 1, columns + 1);
    const auto* from = x.data<char>();
    auto* to = c.Out(0).data<char>();
    const int64_t count = columns ? x.size() / columns : 0;
    c.workers().ParallelFor(
        count, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, columns)), [&](int64_t begin, int64_t end) {
          for (int64_t row = begin; row < end; ++row) {
            const int64_t edge = std::clamp<int64_t>(row % rows + k + (upper_ ? 0 : 1), 0, columns);
            const int64_t first = upper_ ? edge : 0, last = upper_ ? columns : edge;
            char* y = to + row * columns * width;
            std::fill(y, y + first * width, char{0});
            std::copy_n(from + (row * columns + first) * width, (last - first) * width, y + first * width);
            std::fill(y + last * width, y + columns * width, char{0});
          }
        });
    return {};
  }

 private:
  bool upper_ = true;
};

// Copies the bytes of a reshaped input if the result cannot share the memory of the input.
class ViewCopy : public KernelOf<ViewCopy> {
 public:
  static bool Legal(const KernelQuery& q) {
    return q.InType(0) == q.OutType(0) && q.InType(0) != DType::kInvalid && q.InType(0) != DType::kString;
  }
  Status Run(RunContext& c) override {
    constexpr int64_t kGrain = 256 << 10;
    auto* to = c.Out(0).data<std::byte>();
    const auto* from = c.In(0).data<const std::byte>();
    c.workers().ParallelFor(static_cast<int64_t>(c.Out(0).bytes()), kGrain, [=](int64_t begin, int64_t end) {
      std::memcpy(to + begin, from + begin, static_cast<size_t>(end - begin));
    });
    return {};
  }
};

}  // namespace

TERN_KERNELS(Move) {
  table.Add<Transpose>("Transpose", "cpu.transpose", Movable);
  table.Add<Blocks>("SpaceToDepth", "cpu.space_to_depth", Blocks::Legal);
  table.Add<Blocks>("DepthToSpace", "cpu.depth_to_space", Blocks::Legal);
  table.Add<ConcatSplit>("Concat", "cpu.concat", Movable);
  table.Add<ConcatSplit>("Split", "cpu.split", Movable);
  table.Add<Slice>("Slice", "cpu.slice", Movable);
  table.Add<Expand>("Expand", "cpu.expand", Expand::Legal);
  table.Add<Tile>("Tile", "cpu.tile", Tile::Legal);
  table.Add<Trilu>("Trilu", "cpu.trilu", Movable);
  for (const char* op : {"Reshape", "Unsqueeze", "Squeeze", "Flatten", "Identity"})
    table.Add<ViewCopy>(op, "cpu.view_copy", ViewCopy::Legal);
}

}  // namespace tern
