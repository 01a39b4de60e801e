// Features of sound that models take in place of samples: STFT, spectrogram, log-mel spectrogram and MFCC.
// Each function takes the samples of one channel. Spectra are in the layout of torch: [bins, time].
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/tensor.h"

namespace tern::data {

using Signal = std::span<const float>;

enum class Window { kHann, kHamming, kBlackman, kBartlett, kPovey, kRectangular };
// Returns a window of `length` samples. A periodic window is a symmetric window of length + 1 samples without
// its last sample.
std::vector<double> MakeWindow(Window window, int64_t length, bool periodic = true);

enum class PadMode { kReflect, kConstant, kReplicate, kCircular };

struct StftOptions {
  int64_t n_fft = 400;       // the length of the transform in samples
  int64_t hop_length = 160;  // the distance of two frames in samples
  int64_t win_length = 0;    // at most n_fft; 0 means n_fft. A shorter window is centred in the frame.
  Window window = Window::kHann;
  bool periodic = true;                  // see MakeWindow
  bool center = true;                    // pads n_fft / 2 samples on both sides
  PadMode pad_mode = PadMode::kReflect;  // what is padded
  bool normalized = false;               // divides by sqrt(n_fft)
  bool onesided = true;                  // keeps n_fft / 2 + 1 of the n_fft bins
};

// Returns f32[bins, time, 2], where the last axis is real and imaginary part; equal to torch.stft. Fails if
// an option is out of range, if the padded signal is shorter than one frame, or if the signal is too short
// for the padding of one side. With n padded samples, reflection needs n + 1 samples, and circular padding
// needs n.
Result<Tensor> Stft(Signal signal, const StftOptions& options);
// Inverts Stft, as torch.istft. `length` is the number of samples, or -1 for all that the frames cover.
// Samples beyond the frames are 0. Fails if the windows' sum of squares is zero somewhere.
Result<Tensor> Istft(const Tensor& spectrum, const StftOptions& options, int64_t length = -1);
// Returns f32[bins, time]: the magnitude of each bin to the power `power`, which is 1 or 2.
Result<Tensor> Spectrogram(Signal signal, const StftOptions& options, double power = 2);

enum class MelScale { kHtk, kSlaney };
enum class MelNorm { kNone, kSlaney };  // kSlaney divides each filter by half of its width in Hz

struct MelOptions {
  int sample_rate = 16000;  // Hz
  int64_t n_mels = 80;
  double f_min = 0, f_max = 0;  // Hz; f_max = 0 means half of the sample rate
  MelScale scale = MelScale::kHtk;
  MelNorm norm = MelNorm::kNone;
};
// Returns f32[n_mels, n_fft / 2 + 1], as librosa.filters.mel; the transpose of torchaudio's melscale_fbanks.
Result<Tensor> MelFilterBank(const MelOptions& options, int64_t n_fft);

enum class LogKind {
  kNone,     // x
  kNatural,  // log(x + offset)
  kClamped,  // log(max(x, offset))
  kDecibel,  // 10 log10(max(x, offset)), and not less than its maximum - top_db
  kWhisper,  // (max(y, max(y) - 8) + 4) / 4, where y = log10(max(x, offset))
};

struct LogMelOptions {
  StftOptions stft;
  MelOptions mel;
  double power = 2;
  LogKind log = LogKind::kNatural;
  double offset = 1e-6;
  double top_db = 0;             // only for kDecibel; 0 means no limit
  double preemphasis = 0;        // y[t] = x[t] - preemphasis * x[t - 1] before the transform
  bool drop_last_frame = false;  // as Whisper does
  static LogMelOptions Whisper(int64_t n_mels = 80);
};
// Returns f32[n_mels, time].
Result<Tensor> LogMel(Signal signal, const LogMelOptions& options);

struct MfccOptions {
  LogMelOptions mel;
  int64_t n_mfcc = 13;
  double lifter =
      0;  // coefficient k is multiplied by 1 + lifter / 2 * sin(pi * (k + 1) / lifter), as librosa
};
// Returns f32[n_mfcc, time]: the orthonormal DCT-II of LogMel over the mel axis.
Result<Tensor> Mfcc(Signal signal, const MfccOptions& options);

// The features of Kaldi, as torchaudio.compliance.kaldi computes them without dither. KaldiMfcc always takes
// the logarithm of the power and ignores use_power and use_log.
struct KaldiOptions {
  int sample_rate = 16000;
  double frame_length = 25, frame_shift = 10;  // ms
  int64_t n_mels = 80;                         // Kaldi's own default is 23
  double low_freq = 20, high_freq = 0;         // Hz; high_freq <= 0 counts from half of the sample rate
  double preemphasis = 0.97;
  bool remove_dc_offset = true;
  bool snip_edges = true;             // true: only frames that lie within the signal
  bool round_to_power_of_two = true;  // the length of the transform
  bool use_power = true, use_log = true;
  Window window = Window::kPovey;  // symmetric
  double scale = 32768;            // multiplies the samples, because Kaldi's are 16-bit integers
  int64_t n_mfcc = 13;
  double cepstral_lifter = 22;
};
Result<Tensor> KaldiFbank(Signal signal, const KaldiOptions& options);  // f32[time, n_mels]
Result<Tensor> KaldiMfcc(Signal signal, const KaldiOptions& options);   // f32[time, n_mfcc]

// Returns x[t] - coefficient * x[t - 1]. The first sample is not changed.
std::vector<float> PreEmphasis(Signal signal, double coefficient);
// Returns the first `length` samples. A shorter signal is padded with zeros.
std::vector<float> PadOrTrim(Signal signal, int64_t length);
// Returns (x - mean) / sqrt(variance + epsilon) over the whole signal, which is the input of wav2vec 2.0.
std::vector<float> NormaliseSignal(Signal signal, double epsilon = 1e-7);
// Subtracts from each feature its mean over time. With `variance`, also divides by its standard deviation
// (unbiased) + epsilon, which needs two frames. `time_axis` is the axis of f32[.,.] along which time runs.
Result<Tensor> NormaliseFeatures(const Tensor& features, int time_axis, bool variance = true,
                                 double epsilon = 1e-5);

}  // namespace tern::data
