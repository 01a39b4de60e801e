// Splits a signal into overlapping frames and transforms eight frames at a time.
#pragma once
#include <algorithm>

#include "base/thread_pool.h"
#include "data/audio/features.h"
#include "data/audio/fft.h"

namespace tern::data {

struct Frames {
  int64_t n_fft = 0, hop = 0;
  int64_t count = 0;           // number of frames
  std::vector<double> signal;  // with preemphasis and padding
  std::vector<double> window;  // n_fft values
  int64_t bins() const { return n_fft / 2 + 1; }
};

// Applies preemphasis to the signal x, which gives x[t] - preemphasis * x[t - 1]. Pads it as the options say,
// and returns the frames that Stft transforms.
Result<Frames> MakeFrames(Signal signal, const StftOptions& options, double preemphasis = 0);
// Returns the window of the options, centred in n_fft samples.
Result<std::vector<double>> FrameWindow(const StftOptions& options);

// Scratch memory of one thread.
struct SpectrumScratch {
  LaneBuffer frame;        // n_fft
  ComplexBuffer spectrum;  // bins
  ComplexBuffer work;      // RealFft::scratch()
  LaneBuffer extra;        // for the caller
};

// Loads frames [first, first + 8) into `frame`. Lanes beyond the last frame repeat that frame.
void LoadWindowed(const Frames& frames, int64_t first, Lanes* frame);

// Calls load(first, frame), which fills scratch.frame as LoadWindowed does, and body(first, lanes, scratch)
// for each block of eight frames, on several threads. scratch.spectrum has the spectrum of frames [first,
// first + lanes). scratch.extra has `extra` elements. `body` must not throw.
template <class Load, class Body>
void ForEachSpectrum(int64_t n_fft, int64_t count, int64_t extra, const Load& load, const Body& body) {
  const RealFft fft(n_fft);
  const Workers workers;
  std::vector<SpectrumScratch> scratch(static_cast<size_t>(workers.threads()));
  for (SpectrumScratch& s : scratch) {
    s.frame.resize(static_cast<size_t>(n_fft));
    s.spectrum.resize(static_cast<size_t>(fft.bins()));
    s.work.resize(static_cast<size_t>(fft.scratch()));
    s.extra.resize(static_cast<size_t>(extra));
  }
  constexpr int64_t kGrain = 16;  // blocks; about 100 us for n_fft = 400
  workers.ParallelFor((count + kLanes - 1) / kLanes, kGrain, [&](int64_t begin, int64_t end, int worker) {
    SpectrumScratch& s = scratch[static_cast<size_t>(worker)];
    for (int64_t block = begin; block < end; ++block) {
      const int64_t first = block * kLanes;
      load(first, s.frame.data());
      fft.Forward(s.frame.data(), s.spectrum.data(), s.work.data());
      body(first, static_cast<int>(std::min<int64_t>(kLanes, count - first)), s);
    }
  });
}

}  // namespace tern::data
