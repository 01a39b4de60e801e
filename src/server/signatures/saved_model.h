// Reads which signatures a SavedModel of TensorFlow has.
#pragma once
#include <string_view>
#include <vector>

#include "server/core/signatures.h"

namespace tern::server {

// Returns the signatures of the graph with the tag "serve", or of the only graph, sorted by name. `bytes` is
// the content of saved_model.pb. The graph itself is skipped. Fails with kInvalidModel if the bytes are
// damaged, or if there are too many signatures.
Result<std::vector<Signature>> ReadSignatures(std::string_view bytes);

}  // namespace tern::server
