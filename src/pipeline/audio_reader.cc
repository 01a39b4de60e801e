// Reads sounds: decode, resample, cut into frames, log-mel spectrogram.
#include "data/audio/audio.h"

#include <algorithm>
#include <cmath>

#include "data/audio/features.h"
#include "pipeline/rows.h"

namespace tern::pipeline {
namespace {

constexpr int kMaxRate = 384000;  // Hz

class AudioReader final : public InputReader {
 public:
  AudioReader(const Limits& limits, const BoundInput& input)
      : limits_(limits),
        input_(input),
        decode_(*input.spec.Find<DecodeAudioStep>()),
        frames_(input.spec.Find<FramesStep>() ? *input.spec.Find<FramesStep>() : FramesStep()),
        mel_(input.spec.Find<LogMelStep>() ? std::optional(*input.spec.Find<LogMelStep>()) : std::nullopt) {}

  Result<std::vector<ItemRows>> Read(const std::vector<std::string_view>& items,
                                     const Stop& stop) const override {
    return ReadItems(items, stop, [this](std::string_view bytes) { return ReadOne(bytes); });
  }

 private:
  Result<ItemRows> ReadOne(std::string_view bytes) const {
    // Limits the samples of all channels. The longest sound fits at 96 kHz in mono, or at 48 kHz in stereo.
    const auto most = static_cast<size_t>(std::max(1.0, limits_.seconds) * 96000);
    TERN_ASSIGN(data::Audio audio, data::DecodeAudio(bytes, most));
    if (audio.sample_rate <= 0 || audio.frames() == 0) return InvalidArgument("the sound is empty");
    if (audio.sample_rate > kMaxRate)
      return InvalidArgument("the sample rate is ", audio.sample_rate, " Hz; the limit is ", kMaxRate);
    const size_t decoded = audio.samples.size() * sizeof(float);
    const double seconds = static_cast<double>(audio.frames()) / audio.sample_rate;
    if (seconds > limits_.seconds)
      return InvalidArgument("the sound has ", seconds, " seconds; the limit is ", limits_.seconds);
    if (audio.channels != 1) audio = data::Mono(audio);
    if (decode_.rate && decode_.rate != audio.sample_rate) {
      TERN_ASSIGN(audio, data::Resample(audio, decode_.rate));
    }
    std::vector<float> samples = std::move(audio.samples);
    if (decode_.seconds > 0)
      samples = data::PadOrTrim(samples, std::lround(decode_.seconds * audio.sample_rate));
    ItemRows out;
    out.decoded_bytes = decoded;
    out.info.seconds = static_cast<double>(samples.size()) / audio.sample_rate;
    if (!frames_.size) {
      TERN_TRY(AddRow(samples, audio.sample_rate, out));
      return out;
    }
    out.info.seconds_per_frame = static_cast<double>(frames_.hop) / audio.sample_rate;
    const auto size = static_cast<size_t>(frames_.size), context = static_cast<size_t>(frames_.context);
    for (size_t start = 0; start < samples.size(); start += static_cast<size_t>(frames_.hop)) {
      std::vector<float> frame(context + size);
      const size_t before = std::min(context, start), count = std::min(size, samples.size() - start);
      std::copy_n(samples.data() + start - before, before + count, frame.data() + context - before);
      TERN_TRY(AddRow(frame, audio.sample_rate, out));
    }
    return out;
  }

  Status AddRow(const std::vector<float>& signal, int rate, ItemRows& out) const {
    Tensor features;
    if (mel_) {
      TERN_ASSIGN(features, Mel(signal, rate));
    } else {
      features = Tensor(DType::kF32, {static_cast<int64_t>(signal.size())});
      std::copy(signal.begin(), signal.end(), features.data<float>());
    }
    Dims dims = features.dims();
    const int rank = input_.type.shape.rank();
    if (rank >= 0)
      dims.insert(dims.begin(), static_cast<size_t>(rank) - dims.size(), 1);
    else
      dims.insert(dims.begin(), 1);
    TERN_TRY(CheckDims(dims));
    out.rows.push_back({{input_.tensor, features.Reshaped(std::move(dims))}});
    return {};
  }

  Result<Tensor> Mel(const std::vector<float>& signal, int rate) const {
    data::LogMelOptions options =
        mel_->log == "whisper" ? data::LogMelOptions::Whisper(mel_->mels) : data::LogMelOptions();
    options.stft.n_fft = mel_->fft;
    options.stft.hop_length = mel_->hop;
    options.stft.win_length = mel_->window;
    options.mel.sample_rate = rate;
    options.mel.n_mels = mel_->mels;
    options.mel.f_min = mel_->low;
    options.mel.f_max = mel_->high;
    if (mel_->log != "whisper") {
      options.mel.scale = mel_->scale == "htk" ? data::MelScale::kHtk : data::MelScale::kSlaney;
      options.mel.norm = mel_->norm == "none" ? data::MelNorm::kNone : data::MelNorm::kSlaney;
      options.log = mel_->log == "none"      ? data::LogKind::kNone
                    : mel_->log == "natural" ? data::LogKind::kNatural
                    : mel_->log == "clamped" ? data::LogKind::kClamped
                                             : data::LogKind::kDecibel;
    }
    TERN_ASSIGN(const Tensor mel, data::LogMel(signal, options));
    if (mel_->layout == "mel_time") return mel;
    Tensor transposed(DType::kF32, {mel.dim(1), mel.dim(0)});
    for (int64_t y = 0; y < mel.dim(0); ++y)
      for (int64_t x = 0; x < mel.dim(1); ++x)
        transposed.data<float>()[x * mel.dim(0) + y] = mel.data<float>()[y * mel.dim(1) + x];
    return transposed;
  }

  Status CheckDims(const Dims& dims) const {
    const Shape& shape = input_.type.shape;
    for (int i = 1; i < shape.rank(); ++i)
      if (shape[i].known() && shape[i].value() != dims[static_cast<size_t>(i)])
        return InvalidArgument("the sound gives [", Join(dims, ","), "], but input '", input_.tensor,
                               "' of the model is ", input_.type.ToString());
    return {};
  }

  const Limits limits_;
  const BoundInput input_;
  const DecodeAudioStep decode_;
  const FramesStep frames_;
  const std::optional<LogMelStep> mel_;
};

}  // namespace

Result<std::shared_ptr<const InputReader>> MakeAudioReader(const Spec& spec, const BoundInput& input) {
  const int rank = input.type.shape.rank(), least = input.spec.Find<LogMelStep>() ? 2 : 1;
  if (input.type.dtype != DType::kF32)
    return InvalidArgument(PlaceOf(spec, input.spec.line), "input '", input.tensor, "' of the model is ",
                           input.type.ToString(), "; a sound needs an input of type f32");
  if (rank >= 0 && (rank < least || rank > 4))
    return InvalidArgument(PlaceOf(spec, input.spec.line), "input '", input.tensor, "' of the model is ",
                           input.type.ToString(), "; a sound needs ", least, " to 4 dims");
  return std::shared_ptr<const InputReader>(std::make_shared<AudioReader>(spec.limits, input));
}

}  // namespace tern::pipeline
