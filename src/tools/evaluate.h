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

struct Evaluation {
  std::vector<compress::Answer> answers, others;
  double signal = 0, noise = 0;  // sums of the squares of the other model's scores, and of the differences

  // Signal-to-noise ratio of the scores in dB.
  double sqnr() const;
};
// Runs the model on the samples. `other` is null, or a model with the same inputs, which runs on the same
// samples. The first output of each model has the scores.
Result<Evaluation> Evaluate(Engine& engine, Engine* other, compress::Samples& samples,
                            const std::vector<int64_t>& labels);

compress::Accuracy AccuracyOf(const std::vector<compress::Answer>& answers);

// Writes the keys and values of a comparison. The caller has begun a JSON object and ends it.
void WritePaired(const Evaluation& evaluation, data::JsonWriter& json);
std::string PairedText(const Evaluation& evaluation);

}  // namespace tern::tools
