// Reports of quantization as JSON.
#pragma once
#include <functional>
#include <string>

#include "compress/quantize/static.h"
#include "compress/weights/weight_only.h"
#include "data/json_writer.h"

namespace tern::quantize {

// The path of the written model, and the sizes of the model files before and after.
struct Files {
  std::string output;
  uint64_t bytes_before = 0, bytes_after = 0;
};
// Returns the sizes of the files; 0 for a file that does not exist.
Files FilesOf(const std::string& model, const std::string& output);

// Returns one JSON object. `more` may write further keys after "outputs".
std::string StaticJson(const Files& files, const std::string& method, const compress::StaticReport& report,
                       const std::function<void(data::JsonWriter&)>& more = {});
std::string WeightsJson(const Files& files, const compress::WeightOnlyReport& report);

}  // namespace tern::quantize
