// Reads the "data" of a tensor in JSON.
#pragma once
#include "server/core/message.h"
#include "server/http/json_reader.h"

namespace tern::server {

// Returns the product of dims. Fails for a negative dim and on overflow.
Result<uint64_t> ElementCount(std::string_view name, const Dims& dims);

// Reads an array, nested or flat, into tensor.bytes. The number of elements must be the product of
// tensor.dims. Integers must be exact and in range. A BOOL is true, false, 0 or 1.
Status ReadJsonTensor(JsonReader& json, WireTensor& tensor);

}  // namespace tern::server
