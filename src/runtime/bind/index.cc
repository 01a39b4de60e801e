// Binds gathers and scatters to their CPU kernels.
#include "kernels/cpu/index/index.h"

#include "kernels/cpu/support/width.h"
#include "ops/shape/axes.h"
#include "runtime/bind/support.h"

namespace tern {
namespace {

bool Indexable(const KernelQuery& q) { return cpu::WidthOf(q.InType(0)) > 0 && RankFits(q.InDims(0)); }

cpu::Indices IndicesOf(const Tensor& t) { return {t.raw(), t.dtype() == DType::kI64}; }

Status CheckIndices(const cpu::Indices& indices, int64_t first, int64_t stride, int64_t n, int64_t size,
                    int64_t axis) {
  const int64_t bad = cpu::FindBadIndex(indices, first, stride, n, size);
  return bad < 0 ? Status() : NormalizeIndex(indices[bad], size, axis).status();
}

class Gather : public KernelOf<Gather> {
 public:
  Status Resize(ResizeContext& c) override {
    axis_ = AxisOf(c->attrs().Int("axis"), c->InDims(0).size());
    shape_ = AxisShapeOf(c->InDims(0), axis_);
    return {};
  }
  Status Run(RunContext& c) override {
    const cpu::Indices indices = IndicesOf(c.In(1));
    TERN_TRY(CheckIndices(indices, 0, 1, c.In(1).size(), shape_.length, static_cast<int64_t>(axis_)));
    cpu::Gather(shape_, indices, c.In(1).size(), c.In(0).raw(), c.Out(0).raw(), cpu::WidthOf(c.In(0).dtype()),
                c.workers());
    return {};
  }

 private:
  size_t axis_ = 0;
  cpu::AxisShape shape_;
};

// Sets the fields of `t` for GatherND or ScatterND, except the indices.
Status TuplesOf(const Dims& x, const Dims& indices, int64_t batch_dims, cpu::Tuples& t) {
  t = {};
  t.size = indices.back();
  t.count = CountFrom(indices, 0, indices.size() - 1);
  const Dims steps = ContiguousStrides(x);
  const auto batch = static_cast<size_t>(batch_dims), size = static_cast<size_t>(t.size);
  if (batch + size > x.size())
    return InvalidArgument("index tuples have length ", t.size, ", but x has rank ", x.size());
  for (size_t i = 0; i < size; ++i) t.dims[i] = x[batch + i], t.steps[i] = steps[batch + i];
  const int64_t batches = CountFrom(x, 0, batch);
  t.per_batch = batches ? t.count / batches : 0;
  t.batch_step = CountFrom(x, batch, x.size());
  t.slice = CountFrom(x, batch + size, x.size());
  return {};
}

Status CheckTuples(const cpu::Tuples& t, int64_t batch_dims) {
  for (int64_t i = 0; i < t.size; ++i)
    TERN_TRY(CheckIndices(t.indices, i, t.size, t.count, t.dims[static_cast<size_t>(i)], batch_dims + i));
  return {};
}

class GatherND : public KernelOf<GatherND> {
 public:
  Status Resize(ResizeContext& c) override {
    batch_dims_ = c->attrs().Int("batch_dims");
    return TuplesOf(c->InDims(0), c->InDims(1), batch_dims_, tuples_);
  }
  Status Run(RunContext& c) override {
    tuples_.indices = IndicesOf(c.In(1));
    TERN_TRY(CheckTuples(tuples_, batch_dims_));
    cpu::GatherTuples(tuples_, c.In(0).raw(), c.Out(0).raw(), cpu::WidthOf(c.In(0).dtype()), c.workers());
    return {};
  }

 private:
  int64_t batch_dims_ = 0;
  cpu::Tuples tuples_;
};

cpu::ScatterKind ScatterKindOf(const KernelQuery& q) {
  return static_cast<cpu::ScatterKind>(IndexOf(cpu::kScatterNames, q.attrs().Text("reduction")));
}
bool Scatters(const KernelQuery& q) { return Indexable(q) && cpu::HasScatter(ScatterKindOf(q), q.InType(0)); }

// Copies x to y, unless y has the memory of x.
void CopyToUpdate(RunContext& c) {
  if (c.In(0).raw() == c.Out(0).raw() || c.In(0).size() == 0) return;
  cpu::StridedCopy all;
  all.Add({static_cast<int64_t>(c.In(0).bytes()), 1, 1});
  cpu::Copy(all, c.In(0).raw(), c.Out(0).raw(), 1, c.workers());
}

// Slice assignments such as x[:, 2:9] = updates have constant indices. Resize finds the box that they select,
// so that Run copies rows and does not read the indices.
class ScatterND : public KernelOf<ScatterND> {
 public:
  Status Resize(ResizeContext& c) override {
    kind_ = ScatterKindOf(c.query());
    boxed_ = false;
    TERN_TRY(TuplesOf(c->InDims(0), c->InDims(1), 0, tuples_));
    if (!c->Known(1)) return {};
    tuples_.indices = IndicesOf(*c->Known(1));
    boxed_ = CheckTuples(tuples_, 0).ok() && cpu::FindBox(tuples_, box_);
    return {};
  }
  Status Run(RunContext& c) override {
    tuples_.indices = IndicesOf(c.In(1));
    if (!boxed_) TERN_TRY(CheckTuples(tuples_, 0));
    CopyToUpdate(c);
    const DType type = c.In(0).dtype();
    if (boxed_)
      cpu::ScatterBox(kind_, type, box_, c.In(2).raw(), c.Out(0).raw(), c.workers());
    else
      cpu::ScatterTuples(kind_, type, tuples_, c.In(2).raw(), c.Out(0).raw());
    return {};
  }

 private:
  cpu::ScatterKind kind_ = cpu::ScatterKind::kNone;
  cpu::Tuples tuples_;
  bool boxed_ = false;
  cpu::StridedCopy box_;  // if boxed_
};

cpu::Elements ElementsOf(const KernelQuery& q) {
  const Dims &x = q.InDims(0), &indices = q.InDims(1), steps = ContiguousStrides(x);
  cpu::Elements e;
  e.rank = static_cast<int>(x.size());
  const size_t axis = AxisOf(q.attrs().Int("axis"), x.size());
  e.axis = static_cast<int>(axis);
  for (size_t i = 0; i < x.size(); ++i) e.dims[i] = indices[i], e.steps[i] = steps[i];
  e.length = x[axis];
  e.count = CountOf(indices);
  return e;
}

class GatherElements : public KernelOf<GatherElements> {
 public:
  Status Resize(ResizeContext& c) override {
    elements_ = ElementsOf(c.query());
    return {};
  }
  Status Run(RunContext& c) override {
    elements_.indices = IndicesOf(c.In(1));
    TERN_TRY(CheckIndices(elements_.indices, 0, 1, elements_.count, elements_.length, elements_.axis));
    cpu::GatherElements(elements_, c.In(0).raw(), c.Out(0).raw(), cpu::WidthOf(c.In(0).dtype()), c.workers());
    return {};
  }

 private:
  cpu::Elements elements_;
};

class ScatterElements : public KernelOf<ScatterElements> {
 public:
  Status Resize(ResizeContext& c) override {
    kind_ = ScatterKindOf(c.query());
    elements_ = ElementsOf(c.query());
    return {};
  }
  Status Run(RunContext& c) override {
    elements_.indices = IndicesOf(c.In(1));
    TERN_TRY(CheckIndices(elements_.indices, 0, 1, elements_.count, elements_.length, elements_.axis));
    CopyToUpdate(c);
    cpu::ScatterElements(kind_, c.In(0).dtype(), elements_, c.In(2).raw(), c.Out(0).raw());
    return {};
  }

 private:
  cpu::ScatterKind kind_ = cpu::ScatterKind::kNone;
  cpu::Elements elements_;
};

class OneHot : public KernelOf<OneHot> {
 public:
  static bool Legal(const KernelQuery& q) {
    return (q.InType(0) == DType::kI64 || q.InType(0) == DType::kI32) && cpu::WidthOf(q.InType(2)) > 0;
  }
  Status Resize(ResizeContext& c) override {
    shape_ = AxisShapeOf(c->OutDims(0), AxisOf(c->attrs().Int("axis"), c->OutDims(0).size()));
    return {};
  }
  Status Run(RunContext& c) override {
    if (c.In(2).size() != 2) return InvalidArgument("values must be [off, on], got ", c.In(2).Describe());
    cpu::OneHot(IndicesOf(c.In(0)), shape_.outer, shape_.length, shape_.inner, c.In(2).raw(), c.Out(0).raw(),
                cpu::WidthOf(c.In(2).dtype()), c.workers());
    return {};
  }

 private:
  cpu::AxisShape shape_;
};

}  // namespace

TERN_KERNELS(Index) {
  table.Add<Gather>("Gather", "cpu.gather", Indexable);
  table.Add<GatherND>("GatherND", "cpu.gather_nd", Indexable);
  table.Add<GatherElements>("GatherElements", "cpu.gather_elements", Indexable);
  table.Add<ScatterND>("ScatterND", "cpu.scatter_nd", Scatters);
  table.Add<ScatterElements>("ScatterElements", "cpu.scatter_elements", Scatters);
  table.Add<OneHot>("OneHot", "cpu.one_hot", OneHot::Legal);
}

}  // namespace tern
