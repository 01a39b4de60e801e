#include "data/audio/frames.h"

#include <algorithm>

namespace tern::data {
namespace {

constexpr int64_t kMaxFft = int64_t{1} << 22;

// Returns the index in the signal of position `i` of the padded signal, or -1 for a zero. Reflection needs a
// signal longer than the padding.
int64_t SourceOf(int64_t i, int64_t size, PadMode mode) {
  if (i >= 0 && i < size) return i;
  switch (mode) {
    case PadMode::kReflect:
      return i < 0 ? -i : 2 * (size - 1) - i;
    case PadMode::kReplicate:
      return i < 0 ? 0 : size - 1;
    case PadMode::kCircular:
      return i < 0 ? i + size : i - size;
    case PadMode::kConstant:
      break;
  }
  return -1;
}

Status CheckPadding(int64_t size, int64_t padding, PadMode mode) {
  const int64_t least = mode == PadMode::kReflect     ? padding + 1
                        : mode == PadMode::kCircular  ? padding
                        : mode == PadMode::kReplicate ? 1
                                                      : 0;
  if (size >= least) return {};
  return InvalidArgument("a signal of ", size, " samples is too short for padding by ", padding,
                         " samples on each side; it must have at least ", least);
}

}  // namespace

Result<std::vector<double>> FrameWindow(const StftOptions& o) {
  if (o.n_fft < 1 || o.n_fft > kMaxFft || o.hop_length < 1 || o.win_length < 0 || o.win_length > o.n_fft)
    return InvalidArgument("a transform needs 1 <= n_fft <= ", kMaxFft,
                           ", hop_length >= 1 and 0 <= win_length <= n_fft, got ", o.n_fft, ", ",
                           o.hop_length, " and ", o.win_length);
  const int64_t length = o.win_length == 0 ? o.n_fft : o.win_length;
  const std::vector<double> window = MakeWindow(o.window, length, o.periodic);
  std::vector<double> out(static_cast<size_t>(o.n_fft));
  std::copy(window.begin(), window.end(), out.begin() + (o.n_fft - length) / 2);
  return out;
}

Result<Frames> MakeFrames(Signal signal, const StftOptions& o, double preemphasis) {
  Frames frames{o.n_fft, o.hop_length};
  TERN_ASSIGN(frames.window, FrameWindow(o));
  const int64_t size = static_cast<int64_t>(signal.size()), padding = o.center ? o.n_fft / 2 : 0;
  TERN_TRY(CheckPadding(size, padding, o.pad_mode));
  const int64_t padded = size + 2 * padding;
  if (padded < o.n_fft)
    return InvalidArgument("a signal of ", size, " samples is shorter than one frame of ", o.n_fft);
  frames.count = 1 + (padded - o.n_fft) / o.hop_length;
  frames.signal.resize(static_cast<size_t>(padded));
  double* middle = frames.signal.data() + padding;
  std::copy(signal.begin(), signal.end(), middle);
  for (int64_t i = size - 1; i > 0 && preemphasis != 0; --i) middle[i] -= preemphasis * middle[i - 1];
  for (int64_t i = 0; i < padding; ++i) {
    const int64_t ends[] = {i - padding, size + i};
    for (const int64_t at : ends) {
      const int64_t from = SourceOf(at, size, o.pad_mode);
      if (from >= 0) middle[at] = middle[from];
    }
  }
  return frames;
}

TERN_AUDIO_CLONES void LoadWindowed(const Frames& frames, int64_t first, Lanes* frame) {
  const double* rows[kLanes];
  for (int lane = 0; lane < kLanes; ++lane)
    rows[lane] = frames.signal.data() + std::min(first + lane, frames.count - 1) * frames.hop;
  for (int64_t i = 0; i < frames.n_fft; ++i) {
    const Lanes samples = {rows[0][i], rows[1][i], rows[2][i], rows[3][i],
                           rows[4][i], rows[5][i], rows[6][i], rows[7][i]};
    frame[i] = samples * frames.window[static_cast<size_t>(i)];
  }
}

}  // namespace tern::data
