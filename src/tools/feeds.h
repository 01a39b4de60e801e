// Inputs for a run: from files, or made up.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/datum.h"
#include "ir/graph.h"

namespace tern::tools {

using Feeds = std::map<std::string, Datum>;

// One --input argument: NAME=FILE, or FILE alone (.npz with a name for each array; anything else when the model has
// one input). What the file holds is brought to the input's type where the format leaves it open.
Status AddFeed(const Graph& graph, const std::string& argument, Feeds& feeds);
// One file for one input; the extension says what it is.
Result<Datum> ReadDatum(const std::string& path, const Value& input);

// Random tensors for the inputs that `feeds` lacks. Their dims must be known.
Status AddRandomFeeds(const Graph& graph, uint64_t seed, Feeds& feeds);

// In the graph's order. Constants that are fed become inputs first. Missing and unknown names, wrong types and dims
// are errors.
Result<DatumList> OrderFeeds(Graph& graph, const Feeds& feeds);

}  // namespace tern::tools
