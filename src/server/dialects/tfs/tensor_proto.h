// Reads and writes serialized messages of tensorflow.TensorProto.
#pragma once
#include <string>
#include <string_view>

#include "server/core/message.h"
#include "server/grpc/out_message.h"

namespace tern::server::tfs {

// Reads a tensor. `message` contains `bytes`; tensor_content and packed floats are slices of it. If a list
// has fewer values than the tensor, its last value fills the rest. An empty list stands for zeros. TensorFlow
// does the same. Adds the bytes of a tensor that is no slice to `converted`. Fails with kInvalidArgument if
// the message is damaged, has a type that models of this server do not have, has more values than elements,
// or would take more than `limit` bytes.
Status ReadTensorProto(const Buffer& message, std::string_view bytes, uint64_t limit, WireTensor& tensor,
                       uint64_t& converted);

// Appends `entry` (an entry of a map from names to tensors, the field `field` of a message). Values are
// written in the list of their type, as TensorFlow Serving does. Floats, doubles and bools are not copied.
Status AppendTensorEntry(OutMessage& out, uint32_t field, const WireTensor& tensor);

}  // namespace tern::server::tfs
