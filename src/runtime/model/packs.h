// Stores packed weights in a model's file. Loading the file maps the packed weights into memory, so that no
// session packs them again. In a graph, packed weights are derived constants (ir/derived.h). Only weights of
// the main graph are stored, because names in subgraphs are not unique.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tern {

// Version of all pack layouts. Increase it when a kernel changes its layout or PackKey changes. Packs of
// other versions in files are ignored.
inline constexpr int kPackFormat = 3;

struct Pack {
  Tensor data;
  std::vector<const void*> made_from;  // addresses of the weights that the pack was made from
  // For a loaded pack: buffers of the weights in made_from, so that their addresses are not reused.
  std::vector<Buffer> keep_alive;
};
using Packs = std::map<std::string, Pack>;  // keyed by PackKey

// Returns the key of a pack. `layout` is KernelAbilities::pack, and `isa` is Target::isa(). The key contains
// kPackFormat, `layout`, `isa`, a hash of the node's attributes and subgraphs, and the indices and names of
// the inputs that are packed together. The key is empty if an input has no name.
std::string PackKey(const std::string& layout, const std::string& isa, const Node& node,
                    const std::vector<int>& inputs);

// Returns a hash of the node's attributes and subgraphs. The hash is part of the key of a pack, because two
// nodes may pack the same weight with different strides or factors. The hash ignores the attributes
// activation, act_alpha and act_beta, which do not affect weights.
uint64_t HashOf(const Node& node);

// Gives a unique name to every constant that has no name or shares its name with another constant. PackKey
// identifies weights by their names.
void NameConstants(Graph& graph);

// Returns those packs of a graph that were made from its current constants. The result is empty if two
// constants share a name. If a pack and its weights are from the same file, reading the file has verified the
// pack. Other packs are verified here by checksum.
Packs PacksOf(const Graph& graph);
// Removes all unused constants of the graph, among them its packs. Then adds each pack of `packs` that was
// packed from the graph's constants. Call NameConstants first. Returns the number of packs added.
int SetPacks(Graph& graph, const Packs& packs);

}  // namespace tern
