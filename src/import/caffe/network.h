// Reads the layers of a network from text or from a protobuf message, in the current form of Caffe's schema.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "caffe.pb.h"

namespace tern::caffe {

namespace pb = tern_caffe;

// Parses a .prototxt. Unknown fields of the network and of layers give warnings with their lines. Unknown
// fields of a layer's parameters are an error, because they may change the result of the layer.
Result<pb::NetParameter> ParseText(std::string_view text, std::vector<std::string>& warnings);
// Parses a NetParameter without blobs, as Weights::network returns it.
Result<pb::NetParameter> ParseMessage(const std::string& bytes);

// Replaces layers of the older formats, and the fields input, input_shape and input_dim, by layers of the
// current format. Removes the layers that do not belong to the phase TEST.
Status Upgrade(pb::NetParameter& net);

}  // namespace tern::caffe
