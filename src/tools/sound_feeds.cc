#include "tools/sound_feeds.h"

#include <algorithm>
#include <limits>

#include "data/audio/audio.h"

namespace tern::tools {
namespace {

Result<data::Audio> ReadSound(const InputFile& file) {
  auto audio = file.piped ? data::DecodeAudio(file.text) : data::ReadAudio(file.path);
  if (!audio.ok() && file.piped) return audio.TakeStatus().While("reading standard input");
  return audio;
}

}  // namespace

bool IsSoundKind(const std::string& extension) { return extension == ".wav" || extension == ".flac"; }

void SoundOptions::Declare(Args& args) {
  args.Option("--sample-rate", sample_rate, "HZ",
              "sound: resample to this number of samples per second (the rate of the file)");
}

Result<int> SoundOptions::Parse(const Args& args, const std::vector<std::string>& inputs) const {
  if (!args.Given("--sample-rate")) return 0;
  const auto may_be = [](const std::string& input) {
    return IsSoundKind(Extension(input)) || EndsWith(input, "-");
  };
  if (std::none_of(inputs.begin(), inputs.end(), may_be))
    return InvalidArgument("--sample-rate is for sound, but no --input is a .wav or .flac file");
  if (sample_rate < 1 || sample_rate > std::numeric_limits<int>::max())
    return InvalidArgument("--sample-rate ", sample_rate, ": must be from 1 to ",
                           std::numeric_limits<int>::max());
  return static_cast<int>(sample_rate);
}

Result<Tensor> SoundInput(const InputFile& file, const Value& input, int sample_rate) {
  const Shape& shape = input.type.shape;
  if (!IsFloat(input.type.dtype) || !shape.ranked || shape.rank() < 1 || shape.rank() > 3)
    return InvalidArgument("input '", input.name, "' is ", input.type.ToString(), ", but sound from '",
                           file.path, "' needs floats [N], [1,N] or [1,1,N]");
  TERN_ASSIGN(data::Audio audio, ReadSound(file));
  audio = data::Mono(audio);
  if (sample_rate != 0) {
    auto resampled = data::Resample(audio, sample_rate);
    if (!resampled.ok()) return resampled.TakeStatus().While(StrCat("reading '", file.path, "'"));
    audio = std::move(*resampled);
  }
  Dims dims(static_cast<size_t>(shape.rank()), 1);
  dims.back() = static_cast<int64_t>(audio.samples.size());
  Tensor out(input.type.dtype, dims);
  for (int64_t i = 0; i < out.size(); ++i)
    StoreDouble(out, i, static_cast<double>(audio.samples[static_cast<size_t>(i)]));
  return out;
}

}  // namespace tern::tools
