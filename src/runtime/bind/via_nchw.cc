#include "runtime/bind/via_nchw.h"

#include "kernels/cpu/support/width.h"
#include "ops/support/channels_last.h"

namespace tern {
namespace {

constexpr ChannelOrder kLast{true};

Attrs WithoutOrder(Attrs attrs) {
  const Status status = attrs.Set("channels_last", false);
  TERN_CHECK(status.ok(), status.message());
  return attrs;
}

// Returns the inputs that are transposed: x, and the residual, which may have fewer dims.
std::vector<size_t> TransposedInputs(const KernelQuery& q) {
  std::vector<size_t> list = {0};
  const auto residual = static_cast<size_t>(3);
  if (residual < q.op().inputs.size() && q.op().inputs[residual].name == "residual" && q.Has(3))
    list.push_back(residual);
  return list;
}

}  // namespace

NchwQuery::NchwQuery(const KernelQuery& given)
    : attrs(WithoutOrder(given.attrs())), query(given.op(), attrs, given) {
  query.outputs[0].dims = kLast.ToChannelsFirst(given.OutDims(0));
  for (size_t i : TransposedInputs(given)) {
    Dims& dims = query.inputs[i].dims;
    if (dims.size() < given.OutDims(0).size())
      dims.insert(dims.begin(), given.OutDims(0).size() - dims.size(), 1);
    dims = kLast.ToChannelsFirst(dims);
    query.known[i] = nullptr;
    query.weight[i] = false;
  }
}

std::vector<Work> WithTransposing(const KernelQuery& q, std::vector<Work> work) {
  const auto bytes = [](const TensorInfo& t) {
    return 2 * static_cast<double>(BytesOf(t.dtype, static_cast<size_t>(CountOf(t.dims))));
  };
  Work transpose;
  transpose.algorithm = "transpose";
  transpose.moved = bytes(q.outputs[0]);
  for (size_t i : TransposedInputs(q)) transpose.moved += bytes(q.inputs[i]);
  work.push_back(transpose);
  return work;
}

ViaNchwKernel::Transposed ViaNchwKernel::MakeTransposed(int index, const TensorInfo& first, bool is_input,
                                                        size_t& bytes) {
  Transposed t;
  t.adapted = MakeAdapted(index, first, bytes);
  const Dims other = ContiguousStrides(kLast.ToOwnLayout(first.dims)),
             strides = ContiguousStrides(first.dims);
  const Dims in_first = kLast.ToChannelsFirst(other), in_own = kLast.ToOwnLayout(strides);
  const Dims own = kLast.ToOwnLayout(first.dims);
  for (size_t i = 0; i < first.dims.size(); ++i) {
    if (is_input)
      t.copy.Add({first.dims[i], in_first[i], strides[i]});
    else
      t.copy.Add({own[i], in_own[i], other[i]});
  }
  return t;
}

Status ViaNchwKernel::Resize(ResizeContext& c) {
  const NchwQuery first(c.query());
  size_t bytes = 0;
  TERN_TRY(ResizeInner(first.query, c, bytes));
  inputs_.clear();
  for (size_t i : TransposedInputs(c.query()))
    inputs_.push_back(MakeTransposed(static_cast<int>(i), first.query.inputs[i], true, bytes));
  output_ = MakeTransposed(0, first.query.outputs[0], false, bytes);
  c.SetScratch(bytes);
  return {};
}

Status ViaNchwKernel::Run(RunContext& c) {
  Begin(c);
  for (Transposed& t : inputs_) {
    UseAsInput(t.adapted);
    const Tensor& x = c.In(t.adapted.index);
    cpu::Copy(t.copy, x.raw(), t.adapted.datum.tensor.raw(), cpu::WidthOf(x.dtype()), c.workers());
  }
  UseAsOutput(output_.adapted);
  TERN_TRY(RunInner());
  const Tensor& y = c.Out(0);
  cpu::Copy(output_.copy, output_.adapted.datum.tensor.raw(), y.raw(), cpu::WidthOf(y.dtype()), c.workers());
  return {};
}

}  // namespace tern
