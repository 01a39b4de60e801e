// The dims that decide how a node's weights are packed.
#pragma once
#include <optional>

#include "ir/graph.h"
#include "runtime/kernel.h"

namespace tern {

// A node whose weights may be packed, with dims that stand for all it may have. Of a product: one row. Of a
// convolution: what the graph declares, one image where the batch is open; nothing where the image's size is,
// as what is the best for small ones is not for large ones. The dims of `query` itself do not matter: pieces
// of a batch are decided like the whole.
std::optional<KernelQuery> UsualQuery(const Node& node, KernelQuery query);

}  // namespace tern
