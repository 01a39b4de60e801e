// Checks the inputs and outputs of a configuration.
#include <set>

#include "model_config.pb.h"
#include "server/repository/config.h"

namespace tern::server {
namespace {

using DimList = google::protobuf::RepeatedField<int64_t>;

Status CheckDims(const DimList& dims, const char* what) {
  for (const int64_t dim : dims)
    if (dim < 1 && dim != -1)
      return InvalidArgument(what, " has the dim ", dim, "; a dim is 1 or more, or -1 for any size");
  const Dims fixed(dims.begin(), dims.end());
  Dims positive;
  for (const int64_t dim : fixed) positive.push_back(dim == -1 ? 1 : dim);
  if (!CheckedCount(positive, DType::kF64)) return InvalidArgument(what, " has too many elements");
  return {};
}

// Returns the element counts between the dims of any size (-1). [2,4,-1,6] and [8,-1,1,6] both return {8, 6}.
std::vector<int64_t> Chunks(const DimList& dims) {
  std::vector<int64_t> counts{1};
  for (const int64_t dim : dims)
    if (dim == -1)
      counts.push_back(1);
    else
      counts.back() *= dim;
  return counts;
}

template <class T> Status CheckReshape(const T& tensor, int max_batch_size) {
  if (!tensor.has_reshape()) return {};
  TERN_TRY(CheckDims(tensor.reshape().shape(), "reshape"));
  if (tensor.reshape().shape().empty() && max_batch_size == 0)
    return InvalidArgument("reshape is empty, which only models with a batch dim allow");
  if (Chunks(tensor.dims()) != Chunks(tensor.reshape().shape()))
    return InvalidArgument("dims and reshape differ in their element counts");
  return {};
}

template <class T> Status CheckTensor(const T& tensor, int max_batch_size, bool complete) {
  if (complete && tensor.data_type() == inference::TYPE_INVALID)
    return InvalidArgument("data_type is missing");
  if (!inference::DataType_IsValid(tensor.data_type()))
    return InvalidArgument("data_type ", int{tensor.data_type()}, " is unknown");
  if (complete && tensor.dims().empty() && max_batch_size == 0) return InvalidArgument("dims are missing");
  TERN_TRY(CheckDims(tensor.dims(), "dims"));
  TERN_TRY(CheckReshape(tensor, max_batch_size));
  if (tensor.is_shape_tensor() || tensor.is_non_linear_format_io())
    return InvalidArgument("shape tensors and non-linear formats exist only for TensorRT models");
  return {};
}

template <class List>
Status CheckList(const List& tensors, int max_batch_size, bool complete, const char* role) {
  std::set<std::string> names;
  for (const auto& tensor : tensors) {
    if (tensor.name().empty()) return InvalidArgument("an ", role, " has no name");
    if (!names.insert(tensor.name()).second)
      return InvalidArgument(role, " '", tensor.name(), "' is listed twice");
    const Status status = CheckTensor(tensor, max_batch_size, complete);
    if (!status.ok()) return InvalidArgument(role, " '", tensor.name(), "': ", status.message());
  }
  return {};
}

}  // namespace

Status CheckTensors(const ConfigMessage& message, bool complete) {
  TERN_TRY(CheckList(message.input(), message.max_batch_size(), complete, "input"));
  TERN_TRY(CheckList(message.output(), message.max_batch_size(), complete, "output"));
  for (const auto& input : message.input()) {
    if (input.format() != inference::ModelInput::FORMAT_NONE && input.dims_size() != 3)
      return InvalidArgument("input '", input.name(), "': format NHWC or NCHW needs 3 dims, got ",
                             input.dims_size());
    if (input.allow_ragged_batch() && message.max_batch_size() == 0)
      return InvalidArgument("input '", input.name(), "': allow_ragged_batch needs a max_batch_size");
  }
  return {};
}

}  // namespace tern::server
