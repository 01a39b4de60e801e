// Reads samples for calibration and evaluation: a folder of pictures or arrays, or one .npz file.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "compress/quantize/samples.h"
#include "data/image/picture_input.h"
#include "ir/graph.h"

namespace tern::quantize {

// Returns how pictures become inputs. `name` is "imagenet" (shorter side 256, the central 224 x 224, RGB /
// 255, mean and standard deviation of ImageNet), "none" (as `tern run` without options: resized to the input,
// divided by 255 for float inputs), or a .json file with the keys resize, crop, scale, mean, std, layout,
// channels and filter. `option` names the option in errors.
Result<data::ImageOptions> PreprocessOf(const std::string& name, const char* option = "preprocess");

using Feeds = std::map<std::string, Datum>;  // name of the input → its value
// Reads the sample in `file`, and adds the values of its inputs to `feeds`.
using ReadFeeds = std::function<Status(const Graph& graph, const std::string& file, Feeds& feeds)>;
// Returns the feeds in the order of the graph's inputs. Fails if they do not fit.
using OrderFeeds = std::function<Result<DatumList>(Graph& graph, const Feeds& feeds)>;

// Reads a picture or .npy for the model's only input, or an .npz with one array per input.
ReadFeeds SampleReader(data::ImageOptions pictures);
// Makes each overridable constant that is in `feeds` an input of `graph`. Fails if a name is missing or
// unknown, or if a type or dim is wrong.
Result<DatumList> CheckedFeeds(Graph& graph, const Feeds& feeds);

// `path` is a folder or an .npz file. The files of a folder are sorted by name; each is one sample. The
// arrays of a single .npz file have the samples along their first axis. At most `limit` samples are used; 0
// means all. Fails if there are none.
Result<std::unique_ptr<compress::Samples>> OpenSamples(const std::string& path, const Graph& graph,
                                                       ReadFeeds read, int64_t limit = 0,
                                                       OrderFeeds order = CheckedFeeds);

}  // namespace tern::quantize
