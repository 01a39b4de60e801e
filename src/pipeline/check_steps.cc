// Checks the order of steps. Each step belongs to a phase, and the phases must follow each other.
#include <set>

#include "pipeline/steps.h"

namespace tern::pipeline {
namespace {

template <class... F> struct Overloaded : F... { using F::operator()...; };

enum class Kind { kImage, kText, kAudio };

struct Phase {
  int number;     // steps are in the order of their phases
  bool repeated;  // several steps of the phase are allowed
};

// The kind of input that a step belongs to. Other steps belong to all kinds.
std::optional<Kind> KindOf(const InputStep& step) {
  return std::visit(Overloaded{[](const auto&) { return std::optional<Kind>(); },
                               [](const DecodeImageStep&) { return std::optional(Kind::kImage); },
                               [](const ResizeStep&) { return std::optional(Kind::kImage); },
                               [](const FitStep&) { return std::optional(Kind::kImage); },
                               [](const CropStep&) { return std::optional(Kind::kImage); },
                               [](const NormaliseStep&) { return std::optional(Kind::kImage); },
                               [](const TextStep&) { return std::optional(Kind::kText); },
                               [](const TokenizeStep&) { return std::optional(Kind::kText); },
                               [](const DecodeAudioStep&) { return std::optional(Kind::kAudio); },
                               [](const LogMelStep&) { return std::optional(Kind::kAudio); },
                               [](const FramesStep&) { return std::optional(Kind::kAudio); }},
                    step.options);
}

Phase PhaseOf(const InputStep& step) {
  return std::visit(Overloaded{[](const auto&) {
                                 return Phase{0, false};
                               },
                               [](const ResizeStep&) {
                                 return Phase{1, false};
                               },
                               [](const FitStep&) {
                                 return Phase{1, false};
                               },
                               [](const CropStep&) {
                                 return Phase{2, false};
                               },
                               [](const FramesStep&) {
                                 return Phase{1, false};
                               },
                               [](const LogMelStep&) {
                                 return Phase{2, false};
                               },
                               [](const NormaliseStep&) {
                                 return Phase{3, false};
                               },
                               [](const TensorStep&) {
                                 return Phase{4, false};
                               }},
                    step.options);
}

Phase PhaseOf(const OutputStep& step) {
  return std::visit(Overloaded{[](const auto&) {
                                 return Phase{2, false};
                               },
                               [](const TensorStep&) {
                                 return Phase{0, false};
                               },
                               [](const SoftmaxStep&) {
                                 return Phase{1, true};
                               },
                               [](const SigmoidStep&) {
                                 return Phase{1, true};
                               },
                               [](const PoolStep&) {
                                 return Phase{1, true};
                               },
                               [](const L2NormaliseStep&) {
                                 return Phase{1, true};
                               }},
                    step.options);
}

template <class... A> Status ErrorAt(const Spec& spec, int line, const A&... text) {
  return InvalidArgument(spec.file, ", line ", line, ": ", text...);
}

template <class Step> Status CheckOrder(const Spec& spec, const NamedSteps<Step>& named) {
  int last = -1;
  const Step* before = nullptr;
  for (const Step& step : named.steps) {
    const Phase phase = PhaseOf(step);
    if (phase.number < last)
      return ErrorAt(spec, step.line, "step '", step.name, "' must come before '", before->name, "'");
    if (phase.number == last && !phase.repeated)
      return ErrorAt(spec, step.line, "step '", step.name, "' cannot follow '", before->name, "'");
    last = phase.number;
    before = &step;
  }
  return {};
}

Status CheckKind(const Spec& spec, const InputSpec& input) {
  if (input.steps.empty() || PhaseOf(input.steps[0]).number != 0)
    return ErrorAt(spec, input.line, "the first step of input '", input.name,
                   "' must be decode_image, text, tokenize or decode_audio");
  const auto kind = KindOf(input.steps[0]);
  for (const InputStep& step : input.steps)
    if (const auto own = KindOf(step); own && own != kind)
      return ErrorAt(spec, step.line, "step '", step.name, "' cannot follow '", input.steps[0].name, "'");
  return {};
}

Status CheckTokenize(const Spec& spec, const InputSpec& input) {
  if (!input.Find<TokenizeStep>() || !input.Find<TensorStep>()) return {};
  return ErrorAt(spec, input.line,
                 "'tokenize' names its tensors with its options ids, mask and type_ids; remove 'tensor'");
}

}  // namespace

Status CheckSteps(const Spec& spec) {
  for (const InputSpec& input : spec.inputs) {
    TERN_TRY(CheckKind(spec, input));
    TERN_TRY(CheckOrder(spec, input));
    TERN_TRY(CheckTokenize(spec, input));
  }
  for (const OutputSpec& output : spec.outputs) TERN_TRY(CheckOrder(spec, output));
  if (!spec.labels.empty() && !spec.label_list.empty())
    return InvalidArgument(spec.file, ": 'labels' is given twice");
  return {};
}

}  // namespace tern::pipeline
