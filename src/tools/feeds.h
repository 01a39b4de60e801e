// Reads the inputs of a run from files, or creates random inputs.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/datum.h"
#include "data/image/picture_input.h"
#include "ir/graph.h"
#include "tools/args.h"
#include "tools/shapes.h"

namespace tern::tools {

// Options that control how pictures are converted to inputs.
struct PictureOptions {
  void Declare(Args& args);
  // Returns the options. `inputs` are the values of --input. Fails if an option is given but no input is a
  // picture.
  Result<data::ImageOptions> Parse(const Args& args, const std::vector<std::string>& inputs) const;
  data::ImageOptions image;
  std::string mean, std;
};

// Reads the argument of one --input and adds its inputs to `feeds`. The argument is NAME=FILE or FILE. FILE
// alone is allowed if the model has one input. It is also allowed if the file names the inputs. A .npz file
// does so, and a .json file or the header of a .csv file may do so. If FILE is "-", standard input is read.
// If the format does not state a type, values are read as the input's type. Fails if `feeds` already
// contains an input of the file. Sound is resampled to `sample_rate`, unless that is 0.
Status AddFeed(const Graph& graph, const std::string& argument, const data::ImageOptions& pictures,
               Feeds& feeds, int sample_rate = 0);
// Returns the types of the tensors in the .npy and .npz files among the values of --input, by the names of
// inputs. The name is empty if the argument does not give one. For LoadOptions::input_types.
Result<std::map<std::string, Type>> FileTypes(const std::vector<std::string>& arguments);
// Reads one file for one input. The extension determines the format.
Result<Datum> ReadDatum(const std::string& path, const Value& input, const data::ImageOptions& pictures = {});

// Returns the values that are neither the past nor the present of a state (GraphState).
std::vector<Value*> WithoutStates(const Graph& graph, const std::vector<Value*>& values);

// Adds a random tensor for each input that is neither a state nor in `feeds`. The dims of these inputs must
// be known.
Status AddRandomFeeds(const Graph& graph, uint64_t seed, Feeds& feeds);

// Returns the feeds in the order of the graph's inputs. The datum of a state is empty. An overridable
// constant that is in `feeds` becomes an input of the graph. Fails if a name is missing or unknown, or if a
// type or a dim is wrong.
Result<DatumList> OrderFeeds(Graph& graph, const Feeds& feeds);

}  // namespace tern::tools
