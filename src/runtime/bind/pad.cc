// Binds Pad and Fill to their CPU kernels.
#include <algorithm>

#include "kernels/cpu/move/copy.h"
#include "kernels/cpu/support/width.h"
#include "runtime/bind/support.h"

namespace tern {
namespace {

class Pad : public KernelOf<Pad> {
 public:
  static bool Legal(const KernelQuery& q) {
    return cpu::WidthOf(q.InType(0)) > 0 && RankFits(q.InDims(0)) && q.Known(1) && (!q.Has(3) || q.Known(3));
  }
  Status Resize(ResizeContext& c) override {
    mode_ = c->attrs().Text("mode");
    const size_t rank = c->InDims(0).size();
    const auto pads = ToLongs(*c->Known(1));
    std::vector<int64_t> axes;
    if (c->Has(3))
      axes = ToLongs(*c->Known(3));
    else
      for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
    Dims begin(rank, 0), end(rank, 0);
    for (size_t i = 0; i < axes.size(); ++i) {
      const size_t axis = AxisOf(axes[i], rank);
      if (axis >= rank || pads.size() != 2 * axes.size())
        return InvalidArgument("pads or axes do not fit rank ", rank);
      begin[axis] = pads[i], end[axis] = pads[axes.size() + i];
    }
    return mode_ == "constant" ? PlanConstant(c, begin, end) : PlanMapped(c, begin, end);
  }
  Status Run(RunContext& c) override {
    const int width = cpu::WidthOf(c.In(0).dtype());
    if (mode_ != "constant") {
      cpu::MappedCopy plan = mapped_;
      for (size_t i = 0; i < sources_.size(); ++i) plan.sources[i] = sources_[i].data();
      if (c.Out(0).size()) cpu::Copy(plan, c.In(0).raw(), c.Out(0).raw(), width, c.workers());
      return {};
    }
    const uint64_t zero[2] = {0, 0};
    if (c.Has(2) && c.In(2).size() != 1)
      return InvalidArgument("value must have one element, got ", c.In(2).Describe());
    cpu::Fill(c.Has(2) ? c.In(2).raw() : zero, c.Out(0).raw(), c.Out(0).size(), width, c.workers());
    cpu::Copy(plan_, c.In(0).raw(), c.Out(0).raw(), width, c.workers());
    return {};
  }

 private:
  // Plans the copy of the elements of x that remain after negative pads have cropped x. Run fills y with the
  // constant before this copy.
  Status PlanConstant(ResizeContext& c, const Dims& begin, const Dims& end) {
    const Dims &x = c->InDims(0), from = ContiguousStrides(x), to = ContiguousStrides(c->OutDims(0));
    plan_ = {};
    for (size_t i = 0; i < x.size(); ++i) {
      const int64_t first = std::max<int64_t>(0, -begin[i]),
                    kept = std::max<int64_t>(0, x[i] - first - std::max<int64_t>(0, -end[i]));
      plan_.from += first * from[i], plan_.to += std::max<int64_t>(0, begin[i]) * to[i];
      plan_.Add({kept, from[i], to[i]});
    }
    return {};
  }
  // For each axis, computes from which index of x each position of y is copied.
  Status PlanMapped(ResizeContext& c, const Dims& begin, const Dims& end) {
    const Dims &x = c->InDims(0), steps = ContiguousStrides(x);
    sources_.clear();
    mapped_ = {};
    mapped_.rank = static_cast<int>(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const int64_t first = std::max<int64_t>(0, -begin[i]),
                    kept = x[i] - first - std::max<int64_t>(0, -end[i]);
      const int64_t lead = std::max<int64_t>(0, begin[i]), total = c->OutDims(0)[i];
      if (kept <= 0 && total > 0)
        return InvalidArgument("no elements to pad from along axis ", i, " of size ", x[i], " with pads ",
                               begin[i], " and ", end[i]);
      auto& list = sources_.emplace_back();
      for (int64_t o = 0; o < total; ++o) list.push_back(SourceOf(o - lead, kept) + first);
      mapped_.dims[i] = total, mapped_.steps[i] = steps[i];
    }
    return {};
  }
  // Returns the index of the element that is copied to position i of the padded axis. Positions and indices
  // count from the first of the `kept` elements of the axis, so positions in the leading padding are
  // negative.
  int64_t SourceOf(int64_t i, int64_t kept) const {
    const auto modulo = [](int64_t a, int64_t b) { return (a % b + b) % b; };
    if (i >= 0 && i < kept) return i;
    if (mode_ == "edge") return i < 0 ? 0 : kept - 1;
    if (mode_ == "wrap") return modulo(i, kept);
    if (kept == 1) return 0;
    const int64_t phase = modulo(i, 2 * kept - 2);
    return std::min(phase, 2 * kept - 2 - phase);
  }

  std::string mode_;
  cpu::StridedCopy plan_;
  cpu::MappedCopy mapped_;
  std::vector<std::vector<int64_t>> sources_;
};

class Fill : public KernelOf<Fill> {
 public:
  static bool Legal(const KernelQuery& q) { return cpu::WidthOf(q.OutType(0)) > 0; }
  Status Resize(ResizeContext& c) override {
    for (const Attrs::Entry& e : c->attrs().List())
      if (e.name == "value") value_ = std::get<Tensor>(e.value).Contiguous();
    return {};
  }
  Status Run(RunContext& c) override {
    cpu::Fill(value_.raw(), c.Out(0).raw(), c.Out(0).size(), cpu::WidthOf(value_.dtype()), c.workers());
    return {};
  }

 private:
  Tensor value_;
};

}  // namespace

TERN_KERNELS(Pad) {
  table.Add<Pad>("Pad", "cpu.pad", Pad::Legal);
  table.Add<Fill>("Fill", "cpu.fill", Fill::Legal);
}

}  // namespace tern
