// Inputs for a run: from files, or random.
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

// Options that convert pictures to inputs.
struct PictureOptions {
  void Declare(Args& args);
  // Fails if options are given but no input is a picture.
  Result<data::ImageOptions> Parse(const Args& args, const std::vector<std::string>& inputs) const;
  data::ImageOptions image;
  std::string mean, std;
};

// Reads one --input argument: NAME=FILE, or FILE alone. FILE alone can be .npz and .json with a name for each
// tensor, .csv with a header that names the inputs, or any file if the model has one input. FILE - is
// standard input. If the format does not specify a type, values are read as the input's type. Fails if
// `feeds` already has the input.
Status AddFeed(const Graph& graph, const std::string& argument, const data::ImageOptions& pictures,
               Feeds& feeds);
// Reads one file for one input; the extension determines the format.
Result<Datum> ReadDatum(const std::string& path, const Value& input, const data::ImageOptions& pictures = {});

// Adds random tensors for the inputs that `feeds` lacks. Their dims must be known.
Status AddRandomFeeds(const Graph& graph, uint64_t seed, Feeds& feeds);

// Orders the feeds like the graph's inputs, after turning fed constants into inputs. Fails on missing and
// unknown names, wrong types and wrong dims.
Result<DatumList> OrderFeeds(Graph& graph, const Feeds& feeds);

}  // namespace tern::tools
