// Reads the options of the steps of inputs.
#include "pipeline/steps.h"

namespace tern::pipeline {
namespace {

constexpr int kMaxSide = 16384;
const std::vector<std::string>& Filters() {
  static const auto* names =
      new std::vector<std::string>{"nearest", "box", "bilinear", "hamming", "bicubic", "lanczos"};
  return *names;
}

// Calls `member` for each option. A step without options has none.
Status Options(const YamlValue& value,
               const std::function<Status(const std::string&, const YamlValue&)>& member) {
  return value.is_null() ? Status() : value.Members(member);
}

Status Read(const YamlValue& value, DecodeImageStep& out) {
  return Options(value, [&](const std::string& key, const YamlValue& v) -> Status {
    if (key == "channels") return v.Choice({"auto", "rgb", "bgr", "gray"}, out.channels);
    return v.Unknown("option", key, {"channels"});
  });
}

Status Read(const YamlValue& value, ResizeStep& out) {
  if (value.is_scalar()) return value.Size(kMaxSide, out.width, out.height);
  TERN_TRY(Options(value, [&](const std::string& key, const YamlValue& v) -> Status {
    if (key == "size") return v.Size(kMaxSide, out.width, out.height);
    if (key == "filter") return v.Choice(Filters(), out.filter);
    return v.Unknown("option", key, {"size", "filter"});
  }));
  return out.width ? Status() : value.Error("needs a size such as 256 or 224x224");
}

Status Read(const YamlValue& value, FitStep& out) {
  if (value.is_scalar()) {
    TERN_TRY(value.Size(kMaxSide, out.width, out.height));
  } else {
    TERN_TRY(Options(value, [&](const std::string& key, const YamlValue& v) -> Status {
      if (key == "size") return v.Size(kMaxSide, out.width, out.height);
      if (key == "filter") return v.Choice(Filters(), out.filter);
      if (key == "fill") return v.Int(0, 255, out.fill);
      return v.Unknown("option", key, {"size", "filter", "fill"});
    }));
  }
  if (!out.height) out.height = out.width;
  return out.width ? Status() : value.Error("needs a size such as 640 or 640x480");
}

Status Read(const YamlValue& value, CropStep& out) {
  if (!value.is_scalar()) return value.Error("needs a size such as 224 or 224x192");
  TERN_TRY(value.Size(kMaxSide, out.width, out.height));
  if (!out.height) out.height = out.width;
  return {};
}

Status Read(const YamlValue& value, NormaliseStep& out) {
  TERN_TRY(Options(value, [&](const std::string& key, const YamlValue& v) -> Status {
    if (key == "scale") return v.Number(-1e6, 1e6, out.scale);
    if (key == "mean") return v.Numbers(out.mean);
    if (key == "std") return v.Numbers(out.std);
    return v.Unknown("option", key, {"scale", "mean", "std"});
  }));
  if (out.scale == 0) return value.Error("scale must not be 0");
  for (const double std : out.std)
    if (std == 0) return value.Error("std must not be 0");
  return {};
}

Status Read(const YamlValue& value, TextStep&) {
  return value.is_null() ? Status() : value.Error("has no options");
}

Status Read(const YamlValue& value, TokenizeStep& out) {
  if (value.is_scalar()) return value.File(out.file);
  return Options(value, [&](const std::string& key, const YamlValue& v) -> Status {
    if (key == "file") return v.File(out.file);
    if (key == "max_length") return v.Int(1, 1 << 20, out.max_length);
    if (key == "pad_to") return v.Int(1, 1 << 20, out.pad_to);
    if (key == "special_tokens") return v.Bool(out.special_tokens);
    if (key == "ids") return v.Text(out.ids);
    if (key == "mask") return v.Text(out.mask);
    if (key == "type_ids") return v.Text(out.type_ids);
    return v.Unknown("option", key,
                     {"file", "max_length", "pad_to", "special_tokens", "ids", "mask", "type_ids"});
  });
}

Status Read(const YamlValue& value, DecodeAudioStep& out) {
  return Options(value, [&](const std::string& key, const YamlValue& v) -> Status {
    if (key == "rate") return v.Int(1, 1 << 20, out.rate);
    if (key == "seconds") return v.Number(0.001, 3600, out.seconds);
    return v.Unknown("option", key, {"rate", "seconds"});
  });
}

Status Read(const YamlValue& value, LogMelStep& out) {
  return Options(value, [&](const std::string& key, const YamlValue& v) -> Status {
    if (key == "fft") return v.Int(2, 1 << 16, out.fft);
    if (key == "hop") return v.Int(1, 1 << 16, out.hop);
    if (key == "window") return v.Int(2, 1 << 16, out.window);
    if (key == "mels") return v.Int(1, 1024, out.mels);
    if (key == "low") return v.Number(0, 1e6, out.low);
    if (key == "high") return v.Number(0, 1e6, out.high);
    if (key == "scale") return v.Choice({"htk", "slaney"}, out.scale);
    if (key == "norm") return v.Choice({"none", "slaney"}, out.norm);
    if (key == "log") return v.Choice({"none", "natural", "clamped", "db", "whisper"}, out.log);
    if (key == "layout") return v.Choice({"mel_time", "time_mel"}, out.layout);
    return v.Unknown("option", key,
                     {"fft", "hop", "window", "mels", "low", "high", "scale", "norm", "log", "layout"});
  });
}

Status Read(const YamlValue& value, FramesStep& out) {
  if (value.is_scalar()) {
    TERN_TRY(value.Int(1, 1 << 24, out.size));
  } else {
    TERN_TRY(Options(value, [&](const std::string& key, const YamlValue& v) -> Status {
      if (key == "size") return v.Int(1, 1 << 24, out.size);
      if (key == "hop") return v.Int(1, 1 << 24, out.hop);
      if (key == "context") return v.Int(0, 1 << 24, out.context);
      return v.Unknown("option", key, {"size", "hop", "context"});
    }));
  }
  if (!out.hop) out.hop = out.size;
  return out.size ? Status() : value.Error("needs a size in samples");
}

Status Read(const YamlValue& value, TensorStep& out) {
  if (value.is_scalar()) return value.Text(out.name);
  return Options(value, [&](const std::string& key, const YamlValue& v) -> Status {
    if (key == "name") return v.Text(out.name);
    if (key == "layout") return v.Choice({"auto", "NCHW", "NHWC"}, out.layout);
    return v.Unknown("option", key, {"name", "layout"});
  });
}

template <class T> Status Make(const YamlValue& options, InputStep& step) {
  T value;
  TERN_TRY(Read(options, value));
  step.options = std::move(value);
  return {};
}

constexpr StepRow<InputStep> kRows[] = {{"decode_image", &Make<DecodeImageStep>},
                                        {"resize", &Make<ResizeStep>},
                                        {"fit", &Make<FitStep>},
                                        {"crop", &Make<CropStep>},
                                        {"normalise", &Make<NormaliseStep>},
                                        {"text", &Make<TextStep>},
                                        {"tokenize", &Make<TokenizeStep>},
                                        {"decode_audio", &Make<DecodeAudioStep>},
                                        {"log_mel", &Make<LogMelStep>},
                                        {"frames", &Make<FramesStep>},
                                        {"tensor", &Make<TensorStep>}};

}  // namespace

Status ReadInputStep(const YamlValue& options, InputStep& step) { return ReadWith(kRows, options, step); }

}  // namespace tern::pipeline
