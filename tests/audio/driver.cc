// Runs functions of src/data/audio. Each line of standard input is a job: FUNCTION INPUT OUTPUT KEY=VALUE...
// INPUT is a .npy file with f32 samples, or an audio file. OUTPUT is written as .npy or .wav. For each job,
// prints "ok", details and the time in ms, or "error" and the message.
#include <chrono>
#include <ctime>
#include <iostream>
#include <map>
#include <sstream>

#include "data/audio/audio.h"
#include "data/audio/features.h"
#include "data/npy.h"

namespace tern::data {
namespace {

using Values = std::map<std::string, std::string>;

struct Job {
  std::string function, input, output;
  Values values;
  double Number(const std::string& key, double otherwise) const {
    const auto it = values.find(key);
    return it == values.end() ? otherwise : std::stod(it->second);
  }
  int64_t Int(const std::string& key, int64_t otherwise) const {
    return static_cast<int64_t>(Number(key, static_cast<double>(otherwise)));
  }
  template <class E>
  E Choice(const std::string& key, std::initializer_list<const char*> names, E otherwise) const {
    const auto it = values.find(key);
    if (it == values.end()) return otherwise;
    int i = 0;
    for (const char* name : names) {
      if (it->second == name) return static_cast<E>(i);
      ++i;
    }
    throw std::invalid_argument(key + "=" + it->second);
  }
};

Job ParseJob(const std::string& line) {
  std::istringstream words(line);
  Job job;
  words >> job.function >> job.input >> job.output;
  for (std::string word; words >> word;)
    job.values[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  return job;
}

Window WindowOf(const Job& j, Window otherwise) {
  return j.Choice("window", {"hann", "hamming", "blackman", "bartlett", "povey", "rectangular"}, otherwise);
}

StftOptions StftOf(const Job& j) {
  StftOptions o;
  o.n_fft = j.Int("n_fft", o.n_fft);
  o.hop_length = j.Int("hop_length", o.hop_length);
  o.win_length = j.Int("win_length", o.win_length);
  o.window = WindowOf(j, o.window);
  o.periodic = j.Int("periodic", 1);
  o.center = j.Int("center", 1);
  o.pad_mode = j.Choice("pad_mode", {"reflect", "constant", "replicate", "circular"}, o.pad_mode);
  o.normalized = j.Int("normalized", 0);
  o.onesided = j.Int("onesided", 1);
  return o;
}

LogMelOptions LogMelOf(const Job& j) {
  LogMelOptions o = j.Int("whisper", 0) ? LogMelOptions::Whisper() : LogMelOptions{};
  o.stft = StftOf(j);
  o.mel.sample_rate = static_cast<int>(j.Int("sample_rate", o.mel.sample_rate));
  o.mel.n_mels = j.Int("n_mels", o.mel.n_mels);
  o.mel.f_min = j.Number("f_min", o.mel.f_min);
  o.mel.f_max = j.Number("f_max", o.mel.f_max);
  o.mel.scale = j.Choice("scale", {"htk", "slaney"}, o.mel.scale);
  o.mel.norm = j.Choice("norm", {"none", "slaney"}, o.mel.norm);
  o.power = j.Number("power", o.power);
  o.log = j.Choice("log", {"none", "natural", "clamped", "decibel", "whisper"}, o.log);
  o.offset = j.Number("offset", o.offset);
  o.top_db = j.Number("top_db", o.top_db);
  o.preemphasis = j.Number("preemphasis", o.preemphasis);
  return o;
}

KaldiOptions KaldiOf(const Job& j) {
  KaldiOptions o;
  o.sample_rate = static_cast<int>(j.Int("sample_rate", o.sample_rate));
  o.n_mels = j.Int("n_mels", o.n_mels);
  o.n_mfcc = j.Int("n_mfcc", o.n_mfcc);
  o.snip_edges = j.Int("snip_edges", 1);
  o.window = WindowOf(j, o.window);
  o.low_freq = j.Number("low_freq", o.low_freq);
  o.high_freq = j.Number("high_freq", o.high_freq);
  return o;
}

Tensor TensorOf(const std::vector<float>& values, Dims dims) {
  Tensor out(DType::kF32, std::move(dims));
  std::copy(values.begin(), values.end(), out.data<float>());
  return out;
}

Tensor TensorOf(const Audio& audio) {
  return TensorOf(audio.samples, {static_cast<int64_t>(audio.frames()), audio.channels});
}

Result<Tensor> ResampleSamples(const Job& j, const Tensor& x) {
  Audio audio{static_cast<int>(j.Int("from", 0)), x.rank() == 2 ? static_cast<int>(x.dim(1)) : 1, {}};
  audio.samples.assign(x.data<float>(), x.data<float>() + x.size());
  ResampleOptions o = j.Int("fast", 0) ? ResampleOptions::Fast() : ResampleOptions{};
  o.zero_crossings = static_cast<int>(j.Int("zero_crossings", o.zero_crossings));
  TERN_ASSIGN(const Audio out, Resample(audio, static_cast<int>(j.Int("to", 0)), o));
  return TensorOf(out);
}

Result<Tensor> FeatureOf(const Job& j, const Tensor& x) {
  const Signal signal(x.data<float>(), static_cast<size_t>(x.size()));
  const auto one_axis = [](std::vector<float> v) { return TensorOf(v, {static_cast<int64_t>(v.size())}); };
  if (j.function == "stft") return Stft(signal, StftOf(j));
  if (j.function == "istft") return Istft(x, StftOf(j), j.Int("length", -1));
  if (j.function == "spectrogram") return Spectrogram(signal, StftOf(j), j.Number("power", 2));
  if (j.function == "mel_bank") return MelFilterBank(LogMelOf(j).mel, StftOf(j).n_fft);
  if (j.function == "log_mel") return LogMel(signal, LogMelOf(j));
  if (j.function == "mfcc") return Mfcc(signal, {LogMelOf(j), j.Int("n_mfcc", 13), j.Number("lifter", 0)});
  if (j.function == "kaldi_fbank") return KaldiFbank(signal, KaldiOf(j));
  if (j.function == "kaldi_mfcc") return KaldiMfcc(signal, KaldiOf(j));
  if (j.function == "preemphasis") return one_axis(PreEmphasis(signal, j.Number("coefficient", 0.97)));
  if (j.function == "normalise_signal") return one_axis(NormaliseSignal(signal));
  if (j.function == "normalise_features")
    return NormaliseFeatures(x, static_cast<int>(j.Int("axis", 1)), j.Int("variance", 1));
  if (j.function == "resample") return ResampleSamples(j, x);
  return InvalidArgument("unknown function '", j.function, "'");
}

Result<std::string> Encode(const Job& j) {
  TERN_ASSIGN(const Tensor x, ReadNpy(j.input));
  Audio audio{static_cast<int>(j.Int("rate", 16000)), x.rank() == 2 ? static_cast<int>(x.dim(1)) : 1, {}};
  audio.samples.assign(x.data<float>(), x.data<float>() + x.size());
  TERN_TRY(WriteWav(j.output, audio, j.Choice("format", {"pcm16", "pcm24", "float32"}, WavFormat::kPcm16)));
  return std::string("ok");
}

double Milliseconds() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double CpuMilliseconds() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

Result<std::string> RunJob(const Job& j) {
  if (j.function == "encode") return Encode(j);
  Tensor input;
  if (j.function != "decode") {
    TERN_ASSIGN(input, ReadNpy(j.input));
    if (input.dtype() != DType::kF32) return InvalidArgument("the input must be f32, got ", input.Describe());
  }
  const double start = Milliseconds(), cpu = CpuMilliseconds();
  std::string details;
  Tensor result;
  Audio audio;
  for (int64_t i = 0; i < j.Int("repeat", 1); ++i) {
    if (j.function == "decode") {
      TERN_ASSIGN(audio, ReadAudio(j.input));
    } else {
      TERN_ASSIGN(result, FeatureOf(j, input));
    }
  }
  const double repeat = static_cast<double>(j.Int("repeat", 1));
  details = StrCat(" ms=", (Milliseconds() - start) / repeat, " cpu=", (CpuMilliseconds() - cpu) / repeat);
  if (j.function == "decode") {
    details += StrCat(" rate=", audio.sample_rate);
    result = TensorOf(audio);
  }
  TERN_TRY(WriteNpy(j.output, result));
  return "ok" + details;
}

}  // namespace
}  // namespace tern::data

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const auto answer = tern::Guard([&] { return tern::data::RunJob(tern::data::ParseJob(line)); });
    std::cout << (answer.ok() ? *answer : "error " + answer.status().message()) << std::endl;
  }
}
