#include "runtime/bind/via_nchw.h"

#include "kernels/cpu/support/width.h"
#include "ops/support/channels_last.h"

namespace tern {
namespace {

constexpr ChannelOrder kLast{true};

size_t Aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

Attrs WithoutOrder(Attrs attrs) {
  const Status status = attrs.Set("channels_last", false);
  TERN_CHECK(status.ok(), status.message());
  return attrs;
}

// The inputs that follow the order of dims: x, and a residual that may have fewer dims.
std::vector<size_t> Ordered(const KernelQuery& q) {
  std::vector<size_t> list = {0};
  const auto residual = static_cast<size_t>(3);
  if (residual < q.op().inputs.size() && q.op().inputs[residual].name == "residual" && q.Has(3))
    list.push_back(residual);
  return list;
}

}  // namespace

FirstQuery::FirstQuery(const KernelQuery& own) : attrs(WithoutOrder(own.attrs())), query(own.op(), attrs) {
  query.inputs = own.inputs, query.outputs = own.outputs, query.known = own.known, query.weight = own.weight;
  query.outputs[0].dims = kLast.First(own.OutDims(0));
  for (size_t i : Ordered(own)) {
    Dims& dims = query.inputs[i].dims;
    if (dims.size() < own.OutDims(0).size())
      dims.insert(dims.begin(), own.OutDims(0).size() - dims.size(), 1);
    dims = kLast.First(dims);
    query.known[i] = nullptr;
    query.weight[i] = false;
  }
}

ViaNchwKernel::Stand ViaNchwKernel::MakeStand(int index, const TensorInfo& first, bool is_input,
                                              size_t& bytes) {
  Stand s;
  s.index = index, s.offset = bytes;
  const size_t size = BytesOf(first.dtype, static_cast<size_t>(CountOf(first.dims)));
  s.datum = Tensor::View(Buffer::Borrow(nullptr, size, nullptr), first.dtype, first.dims);
  bytes += Aligned(size);
  const Dims other = ContiguousStrides(kLast.Own(first.dims)), strides = ContiguousStrides(first.dims);
  const Dims in_first = kLast.First(other), in_own = kLast.Own(strides);
  const Dims own = kLast.Own(first.dims);
  for (size_t i = 0; i < first.dims.size(); ++i) {
    if (is_input)
      s.copy.Add({first.dims[i], in_first[i], strides[i]});
    else
      s.copy.Add({own[i], in_own[i], other[i]});
  }
  return s;
}

Status ViaNchwKernel::Resize(ResizeContext& c) {
  const FirstQuery first(c.query());
  ResizeContext inner(first.query, c.threads());
  TERN_TRY(inner_->Resize(inner));
  size_t bytes = Aligned(inner.scratch());
  inputs_.clear();
  for (size_t i : Ordered(c.query()))
    inputs_.push_back(MakeStand(static_cast<int>(i), first.query.inputs[i], true, bytes));
  output_ = MakeStand(0, first.query.outputs[0], false, bytes);
  context_.inputs.assign(c->inputs.size(), nullptr);
  context_.outputs.assign(c->outputs.size(), nullptr);
  c.SetScratch(bytes);
  return {};
}

Status ViaNchwKernel::Run(RunContext& c) {
  auto* scratch = c.scratch<std::byte>();
  context_.pool = c.pool;
  context_.scratch_memory = c.scratch_memory;
  for (size_t i = 0; i < context_.inputs.size(); ++i) context_.inputs[i] = c.inputs[i];
  for (size_t i = 0; i < context_.outputs.size(); ++i) context_.outputs[i] = c.outputs[i];
  const auto place = [&](Stand& s) {
    s.datum.tensor.SetBuffer(Buffer::Borrow(scratch + s.offset, s.datum.tensor.bytes(), nullptr));
  };
  for (Stand& s : inputs_) {
    place(s);
    const Tensor& x = c.In(s.index);
    cpu::Copy(s.copy, x.raw(), s.datum.tensor.raw(), cpu::WidthOf(x.dtype()), c.workers());
    context_.inputs[static_cast<size_t>(s.index)] = &s.datum;
  }
  place(output_);
  context_.outputs[0] = &output_.datum;
  TERN_TRY(inner_->Run(context_));
  const Tensor& y = c.Out(0);
  cpu::Copy(output_.copy, output_.datum.tensor.raw(), y.raw(), cpu::WidthOf(y.dtype()), c.workers());
  return {};
}

}  // namespace tern
