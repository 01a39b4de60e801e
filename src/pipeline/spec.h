// The contents of a pipeline.yaml: the steps from a client's bytes to a model's inputs, and from its outputs
// to results. docs/guide/pipelines.md is the specification.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"

namespace tern::pipeline {

// Steps of an input. Each struct has the options of one step. 0 and "" mean that an option is not given.

struct DecodeImageStep {
  std::string channels = "auto";  // "rgb", "bgr", "gray", or "auto": decided by the model's input
};
// Resizes to width x height. If height is 0, the shorter side becomes `width`, and the aspect ratio stays.
struct ResizeStep {
  int width = 0, height = 0;
  std::string filter = "bilinear";
};
// Resizes to the largest size that fits into width x height. Fills the remaining pixels, equally on both
// sides.
struct FitStep {
  int width = 0, height = 0;
  std::string filter = "bilinear";
  int fill = 0;  // 0 to 255
};
struct CropStep {  // from the centre
  int width = 0, height = 0;
};
// (value * scale - mean) / std. mean and std have one value, or one per channel.
struct NormaliseStep {
  double scale = 1;
  std::vector<double> mean, std;
};
struct TextStep {};
struct TokenizeStep {
  std::string file = "tokenizer.json";
  int max_length = 0;               // tokens; longer texts are cut. 0: as the file says, or 512
  int pad_to = 0;                   // tokens; 0: as the file says, or to the longest text of a request
  bool special_tokens = true;       // such as [CLS] and [SEP]
  std::string ids, mask, type_ids;  // names of the model's inputs; "" means found by their names
};
// Decodes a sound, and mixes its channels to one.
struct DecodeAudioStep {
  int rate = 0;        // Hz; the sound is resampled to it. 0: the file's rate
  double seconds = 0;  // a longer sound is cut, a shorter one gets zeros. 0: any length
};
struct LogMelStep {
  int fft = 400, hop = 160, window = 0, mels = 80;  // window 0 means fft
  double low = 0, high = 0;                         // Hz; high 0 means half of the rate
  std::string scale = "htk";                        // "htk" or "slaney"
  std::string norm = "none";                        // "none" or "slaney"
  std::string log = "natural";                      // "none", "natural", "clamped", "db" or "whisper"
  std::string layout = "mel_time";                  // "mel_time" is [mels, time]; "time_mel" is [time, mels]
};
// Cuts the samples into frames. Each frame is one item of the model's batch, or one run if the model has
// states. If the last frame is not full, zeros follow its samples.
struct FramesStep {
  int size = 0, hop = 0;  // samples; hop 0 means size
  int context = 0;        // samples before each frame; zeros before the first frame
};
// Names the model's input or output. Without this step, the only one that fits is used.
struct TensorStep {
  std::string name;
  std::string layout = "auto";  // pictures: "NCHW", "NHWC", or "auto": decided by the dims
};

struct InputStep {
  using Options = std::variant<DecodeImageStep, ResizeStep, FitStep, CropStep, NormaliseStep, TextStep,
                               TokenizeStep, DecodeAudioStep, LogMelStep, FramesStep, TensorStep>;
  std::string name;
  int line = 0;
  Options options;
};

// Steps of an output.

struct SoftmaxStep {
  int axis = -1;
};
struct SigmoidStep {};
struct TopKStep {
  int k = 5;
};
struct ThresholdStep {
  double score = 0.5;
};
// Pools the tokens of [N, tokens, size] to [N, size].
struct PoolStep {
  std::string kind = "mean";  // "mean", "max" or "cls"
  std::string mask;           // the model's input with the attention mask; "" means found by its name
};
struct L2NormaliseStep {};
struct BoxesStep {
  std::string boxes, scores;      // outputs of the model; without `scores`, `boxes` contains both
  std::string format = "xyxy";    // "xyxy", "yxyx", "xywh" or "cxcywh"
  std::string unit = "relative";  // "relative" is 0 to 1; "pixels" are pixels of the model's input
  double score = 0.5, iou = 0.5;
  int background = -1;  // the class that means "no object"; -1: none
  int most = 100;
  bool objectness = false;  // the first number after a box multiplies the scores of the classes
};
struct SegmentationStep {};
struct CtcStep {
  int blank = 0;
  int beam = 1;             // 1 is greedy
  std::string vocabulary;   // a file with one token per line
  std::string space = "|";  // the token that stands for a space
};
struct DecodeTextStep {
  std::string file = "tokenizer.json";
};

struct OutputStep {
  using Options = std::variant<TensorStep, SoftmaxStep, SigmoidStep, TopKStep, ThresholdStep, PoolStep,
                               L2NormaliseStep, BoxesStep, SegmentationStep, CtcStep, DecodeTextStep>;
  std::string name;
  int line = 0;
  Options options;
};

template <class Step> struct NamedSteps {
  std::string name;  // the name that clients use
  int line = 0;
  std::vector<Step> steps;

  template <class T> const T* Find() const {
    for (const Step& step : steps)
      if (const T* found = std::get_if<T>(&step.options)) return found;
    return nullptr;
  }
};
using InputSpec = NamedSteps<InputStep>;
using OutputSpec = NamedSteps<OutputStep>;

struct Limits {
  int64_t pixels = int64_t{1} << 26;      // of one picture, after decoding
  double seconds = 300;                   // of one sound, after decoding
  int64_t characters = int64_t{1} << 20;  // of one text, in bytes
  int64_t items = 256;                    // pictures, sounds or texts of one request
};

struct Spec {
  std::string file;                     // the path of pipeline.yaml, for messages and for relative paths
  std::string model;                    // the file name of the model; "" means any
  std::string labels;                   // a file with one label per line; "" means none
  std::vector<std::string> label_list;  // labels that are written in the file itself
  std::vector<InputSpec> inputs;
  std::vector<OutputSpec> outputs;
  std::map<std::string, double> constants;    // inputs of the model that have one value
  std::map<std::string, std::string> states;  // input -> output; carried from frame to frame
  Limits limits;

  // Returns the path of a file in the folder of `file`.
  std::string PathOf(const std::string& relative) const;
};

// Parses and checks a pipeline.yaml. `file` is its path, for messages. Errors name the file, line and key.
Result<Spec> ParseSpec(std::string_view text, const std::string& file);
Result<Spec> ReadSpec(const std::string& file);

// The pipeline of a model: its path, or "" and the reason why there is none.
struct Found {
  std::string file, reason;
};

// Looks for the file pipeline.yaml in the model's folder, or in the model itself if that is a folder. A
// pipeline.yaml for another file of the folder does not count, unless the model is the .tern file of the same
// name. Fails if the file cannot be read or parsed.
Result<Found> LookForPipeline(const std::string& model);
// Like LookForPipeline, but returns only the path.
Result<std::string> FindPipeline(const std::string& model);

}  // namespace tern::pipeline
