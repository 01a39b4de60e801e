// Reports of quantization as JSON.
#pragma once
#include <functional>
#include <string>

#include "compress/quantize/static.h"
#include "compress/weights/weight_only.h"
#include "data/json_writer.h"

namespace tern::quantize {

// Returns the bytes of a model: those of the file and of PATH.data or PATH_data beside it, where exporters
// store weights, or of all files of a folder. 0 if there is no model.
uint64_t ModelBytes(const std::string& path);

// The path of the written model, and the bytes of the models before and after (ModelBytes).
struct Files {
  std::string output;
  uint64_t bytes_before = 0, bytes_after = 0;
};
Files FilesOf(const std::string& model, const std::string& output);

// Returns one JSON object. `more` may write further keys after "outputs".
std::string StaticJson(const Files& files, const std::string& method, const compress::StaticReport& report,
                       const std::function<void(data::JsonWriter&)>& more = {});
std::string WeightsJson(const Files& files, const compress::WeightOnlyReport& report);

}  // namespace tern::quantize
