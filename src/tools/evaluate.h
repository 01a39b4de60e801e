// Measures the accuracy of a classifier on samples with known labels.
#pragma once
#include <string>
#include <vector>

#include "compress/paired.h"
#include "compress/quantize/samples.h"
#include "data/json_writer.h"
#include "tools/engine.h"

namespace tern::tools {

// Returns the label of each sample. `source` is "stem" (the number that begins the file's name) or a text
// file. Each line of the file is a label, in the order of the samples, or a file name and a label with a
// comma or blank between them.
Result<std::vector<int64_t>> LabelsOf(const compress::Samples& samples, const std::string& source);

// Returns the answers of the model's first output to the samples.
Result<std::vector<compress::Answer>> Evaluate(Engine& engine, compress::Samples& samples,
                                               const std::vector<int64_t>& labels, const char* title);

compress::Accuracy AccuracyOf(const std::vector<compress::Answer>& answers);

// Writes the keys and values of a comparison. The caller has begun a JSON object and ends it.
void WritePaired(const compress::Paired& paired, data::JsonWriter& json);
std::string PairedText(const compress::Paired& paired);

}  // namespace tern::tools
