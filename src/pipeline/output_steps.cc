// Reads the options of the steps of outputs.
#include "pipeline/steps.h"

namespace tern::pipeline {
namespace {

Status Options(const YamlValue& value,
               const std::function<Status(const std::string&, const YamlValue&)>& member) {
  return value.is_null() ? Status() : value.Members(member);
}

Status None(const YamlValue& value) { return value.is_null() ? Status() : value.Error("has no options"); }

Status Read(const YamlValue& value, TensorStep& out) { return value.Text(out.name); }
Status Read(const YamlValue& value, SigmoidStep&) { return None(value); }
Status Read(const YamlValue& value, L2NormaliseStep&) { return None(value); }
Status Read(const YamlValue& value, SegmentationStep&) { return None(value); }

Status Read(const YamlValue& value, SoftmaxStep& out) {
  return Options(value, [&](const std::string& key, const YamlValue& v) -> Status {
    if (key == "axis") return v.Int(-8, 8, out.axis);
    return v.Unknown("option", key, {"axis"});
  });
}

Status Read(const YamlValue& value, TopKStep& out) {
  if (value.is_null()) return {};
  return value.Int(1, 100000, out.k);
}

Status Read(const YamlValue& value, ThresholdStep& out) {
  return value.is_null() ? Status() : value.Number(-1e30, 1e30, out.score);
}

Status Read(const YamlValue& value, PoolStep& out) {
  if (value.is_scalar()) return value.Choice({"mean", "max", "cls"}, out.kind);
  return Options(value, [&](const std::string& key, const YamlValue& v) -> Status {
    if (key == "kind") return v.Choice({"mean", "max", "cls"}, out.kind);
    if (key == "mask") return v.Text(out.mask);
    return v.Unknown("option", key, {"kind", "mask"});
  });
}

Status Read(const YamlValue& value, BoxesStep& out) {
  return Options(value, [&](const std::string& key, const YamlValue& v) -> Status {
    if (key == "boxes") return v.Text(out.boxes);
    if (key == "scores") return v.Text(out.scores);
    if (key == "format") return v.Choice({"xyxy", "yxyx", "xywh", "cxcywh"}, out.format);
    if (key == "unit") return v.Choice({"relative", "pixels"}, out.unit);
    if (key == "score") return v.Number(0, 1, out.score);
    if (key == "iou") return v.Number(0, 1, out.iou);
    if (key == "background") return v.Int(-1, 1 << 20, out.background);
    if (key == "most") return v.Int(1, 100000, out.most);
    if (key == "objectness") return v.Bool(out.objectness);
    return v.Unknown(
        "option", key,
        {"boxes", "scores", "format", "unit", "score", "iou", "background", "most", "objectness"});
  });
}

Status Read(const YamlValue& value, CtcStep& out) {
  TERN_TRY(Options(value, [&](const std::string& key, const YamlValue& v) -> Status {
    if (key == "blank") return v.Int(0, 1 << 24, out.blank);
    if (key == "beam") return v.Int(1, 1000, out.beam);
    if (key == "vocabulary") return v.File(out.vocabulary);
    if (key == "space") return v.Text(out.space);
    return v.Unknown("option", key, {"blank", "beam", "vocabulary", "space"});
  }));
  return out.vocabulary.empty() ? value.Error("needs 'vocabulary', a file with one token per line")
                                : Status();
}

Status Read(const YamlValue& value, DecodeTextStep& out) {
  return value.is_null() ? Status() : value.File(out.file);
}

template <class T> Status Make(const YamlValue& options, OutputStep& step) {
  T value;
  TERN_TRY(Read(options, value));
  step.options = std::move(value);
  return {};
}

constexpr StepRow<OutputStep> kRows[] = {{"tensor", &Make<TensorStep>},
                                         {"softmax", &Make<SoftmaxStep>},
                                         {"sigmoid", &Make<SigmoidStep>},
                                         {"top_k", &Make<TopKStep>},
                                         {"threshold", &Make<ThresholdStep>},
                                         {"pool", &Make<PoolStep>},
                                         {"l2_normalise", &Make<L2NormaliseStep>},
                                         {"boxes", &Make<BoxesStep>},
                                         {"segmentation", &Make<SegmentationStep>},
                                         {"ctc", &Make<CtcStep>},
                                         {"decode_text", &Make<DecodeTextStep>}};

}  // namespace

Status ReadOutputStep(const YamlValue& options, OutputStep& step) { return ReadWith(kRows, options, step); }

}  // namespace tern::pipeline
