// Reads samples for calibration and evaluation: a folder of pictures or arrays, or one .npz file.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "compress/quantize/samples.h"
#include "data/image/picture_input.h"
#include "ir/graph.h"

namespace tern::tools {

// Returns how pictures become inputs. `name` is "imagenet" (shorter side 256, the central 224 x 224, RGB /
// 255, mean and standard deviation of ImageNet), "none" (as `tern run` without options: resized to the input,
// divided by 255 for float inputs), or a .json file with the keys resize, crop, scale, mean, std, layout,
// channels and filter.
Result<data::ImageOptions> PreprocessOf(const std::string& name);

// `path` is a folder or an .npz file. The files of a folder are sorted by name; each is one sample: a picture
// or .npy for the model's only input, or an .npz with one array per input. The arrays of a single .npz file
// have the samples along their first axis. At most `limit` samples are used; 0 means all. Fails if there are
// none.
Result<std::unique_ptr<compress::Samples>> OpenSamples(const std::string& path, const Graph& graph,
                                                       const data::ImageOptions& pictures, int64_t limit = 0);

}  // namespace tern::tools
