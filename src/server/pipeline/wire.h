// Converts between the tensors of requests and those of pipelines.
#pragma once
#include "pipeline/work.h"
#include "server/core/message.h"

namespace tern::server {

// Returns views of the elements of a BYTES tensor. Fails if the bytes do not contain exactly as many elements
// as the product of the dims.
Result<std::vector<std::string_view>> ElementsOf(const WireTensor& tensor);
// Shares the memory of `tensor`, except for strings.
WireTensor ToWire(const std::string& name, const Tensor& tensor);
Result<Tensor> FromWire(const WireTensor& tensor);

// Makes one output of the response. `index` is the position of the output in each item.
Result<WireTensor> WireResult(const std::vector<pipeline::Item>& items, size_t index);

}  // namespace tern::server
