// Inputs for a run: from files, or made up.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/datum.h"
#include "data/image.h"
#include "ir/graph.h"
#include "tools/args.h"
#include "tools/shapes.h"

namespace tern::tools {

// How pictures become inputs.
struct PictureOptions {
  void Declare(Args& args);
  // Options without a picture among the inputs are an error.
  Result<data::ImageOptions> Parse(const Args& args, const std::vector<std::string>& inputs) const;
  data::ImageOptions image;
  std::string mean, std;
};

// One --input argument: NAME=FILE, or FILE alone (.npz and .json with a name for each tensor, .csv with a
// header that names the inputs; anything when the model has one input). FILE - is standard input. What the
// file holds is brought to the input's type where the format leaves it open. An input that `feeds` has
// already is an error.
Status AddFeed(const Graph& graph, const std::string& argument, const data::ImageOptions& pictures,
               Feeds& feeds);
// One file for one input; the extension says what it is.
Result<Datum> ReadDatum(const std::string& path, const Value& input, const data::ImageOptions& pictures = {});

// Random tensors for the inputs that `feeds` lacks. Their dims must be known.
Status AddRandomFeeds(const Graph& graph, uint64_t seed, Feeds& feeds);

// In the graph's order. Constants that are fed become inputs first. Missing and unknown names, wrong types
// and dims are errors.
Result<DatumList> OrderFeeds(Graph& graph, const Feeds& feeds);

}  // namespace tern::tools
