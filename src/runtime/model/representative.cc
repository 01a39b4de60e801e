#include "runtime/model/representative.h"

#include <algorithm>

#include "runtime/exec/run_once.h"

namespace tern {
namespace {

constexpr int64_t kRows = 16, kSide = 32;

// The size that stands for axis `axis` of input `input` where the graph leaves it open. -1: that of the
// query, which the weights ask for; 0: no size stands for all.
using OpenSize = int64_t (*)(const KernelQuery& query, size_t input, size_t axis);

int64_t OpenOfProduct(const KernelQuery& q, size_t input, size_t axis) {
  const size_t rank = q.inputs[input].dims.size();
  const bool transposed = input == 0 && rank > 1 && q.attrs().Bool("transpose_a");
  const size_t rows = transposed ? rank - 1 : rank - 2, fixed = transposed ? rank - 2 : rank - 1;
  return axis == fixed ? -1 : axis == rows ? kRows : 1;
}

int64_t OpenOfWindows(const KernelQuery& q, size_t input, size_t axis) {
  if (axis == (q.attrs().Bool("channels_last") ? q.inputs[input].dims.size() - 1 : 1)) return -1;
  const Dims& w = q.InDims(1);
  const bool one_tap = std::all_of(w.begin() + 2, w.end(), [](int64_t d) { return d == 1; });
  return axis == 0 ? 1 : one_tap ? kSide : 0;
}

int64_t OpenOfRecurrence(const KernelQuery&, size_t input, size_t axis) {
  const bool length_or_batch = input == 0 ? axis < 2 : input == 4 || axis == 1;
  return length_or_batch ? 1 : -1;
}

OpenSize OpenSizesOf(const std::string& op) {
  if (op == "MatMul") return OpenOfProduct;
  if (op == "Conv" || op == "ConvTranspose") return OpenOfWindows;
  return op == "Rnn" ? OpenOfRecurrence : nullptr;
}

bool SetUsual(const Shape& declared, OpenSize open_size, size_t input, Representative& usual) {
  Dims& dims = usual.query.inputs[input].dims;
  const bool ranked = declared.rank() == static_cast<int>(dims.size());
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (ranked && declared.dims[axis].known()) {
      dims[axis] = declared.dims[axis].value();
      continue;
    }
    const int64_t size = open_size(usual.query, input, axis);
    if (size == 0) return false;
    if (size < 0) continue;
    dims[axis] = size;
    usual.open = true;
  }
  usual.query.known[input] = nullptr;  // data of other dims
  return true;
}

}  // namespace

std::optional<Representative> RepresentativeQuery(const Node& node, KernelQuery query) {
  const OpenSize open_size = OpenSizesOf(query.op().name);
  if (!open_size || !query.IsWeight(1)) return std::nullopt;
  Representative usual{std::move(query)};
  std::vector<InferInput> inputs(usual.query.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorInfo& info = usual.query.inputs[i];
    if (info.dtype == DType::kInvalid) continue;
    if (!usual.query.weight[i] && !SetUsual(node.inputs()[i]->type.shape, open_size, i, usual))
      return std::nullopt;
    inputs[i].present = true;
    inputs[i].type = Type::TensorOf(info.dtype, Shape::Of(info.dims));
  }
  const auto outputs = InferOutputs(node, std::move(inputs));
  if (!outputs.ok()) return std::nullopt;
  for (size_t i = 0; i < usual.query.outputs.size(); ++i) {
    if (usual.query.outputs[i].dtype == DType::kInvalid) continue;
    if (!(*outputs)[i].type.shape.fully_known()) return std::nullopt;
    usual.query.outputs[i].dims = (*outputs)[i].type.shape.Concrete();
  }
  return usual;
}

}  // namespace tern
