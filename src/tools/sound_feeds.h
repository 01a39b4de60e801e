// Reads sound (.wav, .flac) as an input.
#pragma once
#include <string>
#include <vector>

#include "tools/args.h"
#include "tools/input_file.h"
#include "tools/shapes.h"

namespace tern::tools {

bool IsSoundKind(const std::string& extension);

// Options that control how sound is converted to inputs.
struct SoundOptions {
  void Declare(Args& args);
  // Returns the sample rate. 0 means that each file keeps its rate. `inputs` are the values of --input. Fails
  // if an option is given but no input is sound.
  Result<int> Parse(const Args& args, const std::vector<std::string>& inputs) const;
  int64_t sample_rate = 0;
};

// Returns the samples of a file, mixed to one channel, as a float tensor [N], [1,N] or [1,1,N], by the rank
// of the input. If `sample_rate` is not 0, resamples to it.
Result<Tensor> SoundInput(const InputFile& file, const Value& input, int sample_rate);

}  // namespace tern::tools
