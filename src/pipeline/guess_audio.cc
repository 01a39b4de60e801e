// Guesses pipelines of sounds: speech detection with states, classifiers, CTC, spectrograms.
#include <algorithm>
#include <optional>

#include "pipeline/guess_parts.h"

namespace tern::pipeline {
namespace {

struct AudioParts {
  const Value* sound = nullptr;
  std::vector<std::string> constants, states;
  std::vector<std::string> state_outputs;
  std::string missing;  // an input without a source
};

// Returns the output that continues a state, such as hn for h and stateN for state.
const Value* NextState(const Graph& graph, const Value& input) {
  std::string stem = input.name;
  for (const char* end : {"_in", "_input", "0"})
    if (EndsWith(stem, end)) stem.resize(stem.size() - std::string_view(end).size());
  for (const std::string& name :
       {input.name + "n", input.name + "N", input.name + "_out", stem + "_out", stem + "n", "new_" + stem})
    for (const Value* output : graph.outputs())
      if (output->name == name) return output;
  return nullptr;
}

bool IsScalarInt(const Value& value) {
  const Shape& shape = value.type.shape;
  return value.type.tensor() && value.type.dtype == DType::kI64 && shape.fully_known() &&
         CountOf(shape.Concrete()) == 1;
}

bool IsSound(const Value& value) {
  const int rank = value.type.shape.rank();
  if (!value.type.tensor() || value.type.dtype != DType::kF32 || rank < 1 || rank > 3) return false;
  return NameContains(value, {"audio", "wav", "input_values", "samples", "signal", "speech", "sound", "mel",
                              "features", "pcm"}) ||
         value.name == "input" || value.name == "x";
}

AudioParts PartsOf(const Graph& graph) {
  AudioParts out;
  for (const Value* input : graph.inputs()) {
    const Value* next = NextState(graph, *input);
    if (next) {
      out.states.push_back(StrCat("  ", Quoted(input->name), ": ", Quoted(next->name), "\n"));
      out.state_outputs.push_back(next->name);
    } else if (IsScalarInt(*input) && NameContains(*input, {"sr", "rate"})) {
      out.constants.push_back(
          StrCat("  ", Quoted(input->name), ": 16000   # guessed: the sample rate in Hz\n"));
    } else if (!out.sound && IsSound(*input)) {
      out.sound = input;
    } else {
      out.missing = input->name;
    }
  }
  return out;
}

// Silero's speech detector reads 576 samples: the last 64 of the previous frame and 512 new ones.
std::string FramesLine(const Value& sound, bool states) {
  const Dim& samples = sound.type.shape[-1];
  if (samples.known() && samples.value() == 576)
    return "    - frames: {size: 512, context: 64}   # guessed: 64 samples of the previous frame, 512 new ones\n";
  if (samples.known()) return StrCat("    - frames: ", samples.value(), "\n");
  return states ? "    - frames: 512         # guessed\n" : "";
}

std::optional<int64_t> MelsOf(const Value& sound) {
  const Shape& shape = sound.type.shape;
  if (shape.rank() != 3 || !NameContains(sound, {"mel", "features"})) return {};
  for (const int axis : {1, 2})
    if (shape[axis].known()) return shape[axis].value();
  return {};
}

std::string OutputSteps(const GuessInput& input, const AudioParts& parts, bool frames) {
  const Value* output = nullptr;
  for (const Value* value : input.graph.outputs())
    if (!output && value->type.tensor() &&
        std::find(parts.state_outputs.begin(), parts.state_outputs.end(), value->name) ==
            parts.state_outputs.end())
      output = value;
  if (!output) return {};
  const Shape& shape = output->type.shape;
  const std::string tensor = StrCat("    - tensor: ", Quoted(output->name), "\n");
  const bool one = shape.rank() <= 2 && (shape.rank() < 2 || (shape[1].known() && shape[1].value() == 1));
  if (frames && one)
    return StrCat("outputs:\n  speech:\n", tensor, "    - threshold: 0.5      # spans of frames above it\n");
  const std::string vocabulary = input.FindFile({"vocab.txt", "vocab.json"});
  if (shape.rank() == 3 && !vocabulary.empty())
    return StrCat("outputs:\n  text:\n", tensor, "    - ctc: {blank: 0, vocabulary: ", vocabulary,
                  "}   # guessed: token 0 is the blank\n");
  if (shape.rank() == 2 && !frames) return StrCat("outputs:\n  label:\n", ClassSteps(*output));
  return StrCat("outputs:\n  output:\n", tensor);
}

std::string Section(const char* name, const std::vector<std::string>& lines) {
  std::string out = lines.empty() ? "" : StrCat(name, ":\n");
  for (const std::string& line : lines) out += line;
  return out;
}

}  // namespace

std::string GuessAudio(GuessInput& input) {
  const AudioParts parts = PartsOf(input.graph);
  if (!parts.sound)
    return input.No(
        "audio: no input has a name such as audio, waveform, input_values or samples, and type f32");
  if (!parts.missing.empty())
    return input.No(
        StrCat("audio: input '", parts.missing, "' is neither a sound, a state nor a sample rate"));
  std::string steps = "    - decode_audio: {rate: 16000}   # guessed\n";
  const auto mels = MelsOf(*parts.sound);
  std::string frames;
  if (mels) {
    const bool time_first = !parts.sound->type.shape[1].known();
    steps += StrCat("    - log_mel: {mels: ", *mels, time_first ? ", layout: time_mel" : "",
                    "}   # guessed; compare with how the model was trained\n");
  } else {
    frames = FramesLine(*parts.sound, !parts.states.empty());
  }
  const std::string outputs = OutputSteps(input, parts, !frames.empty());
  if (outputs.empty()) return input.No("audio: no output is a tensor");
  return StrCat("# Guessed: a model of sound, because input '", parts.sound->name, "' is ",
                parts.sound->type.ToString(), ".\n", Section("constants", parts.constants),
                Section("states", parts.states), "inputs:\n  audio:\n", steps, frames,
                "    - tensor: ", Quoted(parts.sound->name), "\n", outputs);
}

}  // namespace tern::pipeline
