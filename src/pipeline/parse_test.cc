#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "pipeline/spec.h"

namespace tern::pipeline {
namespace {

constexpr const char* kGood = R"(model: m.onnx
labels: [cat, dog]
inputs:
  image:
    - decode_image: {channels: bgr}
    - resize: {size: 256, filter: bicubic}
    - crop: 224
    - normalise: {scale: 1/255, mean: [0.5, 0.4, 0.3], std: 0.25}
    - tensor: {name: x, layout: NHWC}
outputs:
  label:
    - tensor: scores
    - softmax
    - top_k: 3
limits: {pixels: 1000, items: 2}
)";

std::string ErrorOf(const std::string& text) {
  const auto spec = ParseSpec(text, "p.yaml");
  EXPECT_FALSE(spec.ok()) << text;
  return spec.status().message();
}

// The text with `from` replaced by `to`.
std::string Changed(const std::string& from, const std::string& to) {
  std::string text = kGood;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(ParseSpec, ReadsEveryPart) {
  const auto spec = ParseSpec(kGood, "p.yaml");
  ASSERT_TRUE(spec.ok()) << spec.status().ToString();
  EXPECT_EQ(spec->model, "m.onnx");
  EXPECT_EQ(spec->label_list, (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(spec->limits.pixels, 1000);
  EXPECT_EQ(spec->limits.items, 2);
  ASSERT_EQ(spec->inputs.size(), 1u);
  const InputSpec& input = spec->inputs[0];
  EXPECT_EQ(input.name, "image");
  EXPECT_EQ(input.steps.size(), 5u);
  EXPECT_EQ(input.Find<DecodeImageStep>()->channels, "bgr");
  EXPECT_EQ(input.Find<ResizeStep>()->width, 256);
  EXPECT_EQ(input.Find<ResizeStep>()->height, 0);
  EXPECT_EQ(input.Find<ResizeStep>()->filter, "bicubic");
  EXPECT_EQ(input.Find<CropStep>()->height, 224);
  EXPECT_DOUBLE_EQ(input.Find<NormaliseStep>()->scale, 1.0 / 255);
  EXPECT_EQ(input.Find<NormaliseStep>()->mean.size(), 3u);
  EXPECT_EQ(input.Find<NormaliseStep>()->std, std::vector<double>{0.25});
  EXPECT_EQ(input.Find<TensorStep>()->layout, "NHWC");
  EXPECT_EQ(input.steps[2].line, 7);
  EXPECT_EQ(spec->outputs[0].Find<TopKStep>()->k, 3);
  EXPECT_EQ(spec->outputs[0].Find<TensorStep>()->name, "scores");
}

TEST(ParseSpec, NamesFileLineAndKeyOfAMistake) {
  EXPECT_EQ(ErrorOf(Changed("crop: 224", "crop: 0")),
            "p.yaml, line 7: 'inputs.image.crop': a side must be 1 to 16384 pixels");
  EXPECT_EQ(ErrorOf(Changed("top_k: 3", "top_k: many")),
            "p.yaml, line 14: 'outputs.label.top_k': expected an integer");
  EXPECT_EQ(ErrorOf(Changed("std: 0.25", "std: 0")),
            "p.yaml, line 8: 'inputs.image.normalise': std must not be 0");
  EXPECT_EQ(ErrorOf(Changed("filter: bicubic", "filter: cubic")),
            "p.yaml, line 6: 'inputs.image.resize.filter': 'cubic' is not one of nearest, box, bilinear, "
            "hamming, bicubic, lanczos");
}

TEST(ParseSpec, SuggestsTheClosestName) {
  EXPECT_EQ(ErrorOf(Changed("normalise:", "normalize:")),
            "p.yaml, line 8: 'inputs.image.normalize': unknown step 'normalize'; did you mean 'normalise'?");
  EXPECT_EQ(ErrorOf(Changed("labels:", "label:")),
            "p.yaml, line 2: 'label': unknown key 'label'; did you mean 'labels'?");
  EXPECT_EQ(ErrorOf(Changed("channels:", "chanels:")),
            "p.yaml, line 5: 'inputs.image.decode_image.chanels': unknown option 'chanels'; did you mean "
            "'channels'?");
  EXPECT_NE(ErrorOf(Changed("softmax", "argsort")).find("unknown step 'argsort'; known are tensor, softmax"),
            std::string::npos);
}

TEST(ParseSpec, ExplainsBrokenYaml) {
  EXPECT_NE(ErrorOf(Changed("bgr}", "bgr")).find("a '{' before here has no '}'"), std::string::npos);
  EXPECT_NE(ErrorOf(Changed("dog]", "dog")).find("a '[' before here has no ']'"), std::string::npos);
  EXPECT_NE(ErrorOf(Changed("    - top_k: 3", "  - top_k: 3")).find("is the indentation that of the lines"),
            std::string::npos);
}

TEST(ParseSpec, ChecksTheOrderOfSteps) {
  EXPECT_EQ(ErrorOf(Changed("    - decode_image: {channels: bgr}\n", "")),
            "p.yaml, line 5: the first step of input 'image' must be decode_image, text, tokenize or "
            "decode_audio");
  EXPECT_EQ(ErrorOf(Changed("- top_k: 3", "- top_k: 3\n    - softmax")),
            "p.yaml, line 15: step 'softmax' must come before 'top_k'");
  EXPECT_EQ(ErrorOf(Changed("- crop: 224", "- frames: 224")),
            "p.yaml, line 7: step 'frames' cannot follow 'decode_image'");
  EXPECT_EQ(ErrorOf(Changed("- top_k: 3", "- top_k: 3\n    - threshold: 0.5")),
            "p.yaml, line 15: step 'threshold' cannot follow 'top_k'");
}

TEST(ParseSpec, RefusesFilesOutsideOfItsFolder) {
  for (const char* file : {"/etc/passwd", "../labels.txt", "a/../../b"})
    EXPECT_NE(ErrorOf(Changed("[cat, dog]", file)).find("must be a file beside or below the pipeline"),
              std::string::npos)
        << file;
}

TEST(ParseSpec, RefusesAliasesAndHugeFiles) {
  EXPECT_EQ(ErrorOf("a: &x [1]\nb: *x\n"), "p.yaml: aliases (*name) are not allowed");
  EXPECT_NE(ErrorOf(std::string((1 << 20) + 1, ' ')).find("at most 1048576 are allowed"), std::string::npos);
  EXPECT_NE(ErrorOf(std::string(100000, '[')).find("p.yaml"), std::string::npos);
  EXPECT_EQ(ErrorOf(""), "p.yaml: is empty; it needs 'inputs' and 'outputs'");
  EXPECT_EQ(ErrorOf("inputs: {}\n"), "p.yaml, line 1: 'inputs': is empty");
  EXPECT_EQ(ErrorOf("\xff"), "p.yaml: is not valid UTF-8");
}

TEST(FindPipeline, IsThatOfTheModel) {
  const auto folder = std::filesystem::temp_directory_path() / "tern_find_pipeline_test";
  std::filesystem::create_directories(folder);
  EXPECT_EQ(*FindPipeline((folder / "m.onnx").string()), "");
  std::ofstream(folder / "pipeline.yaml") << kGood;
  const std::string file = (folder / "pipeline.yaml").string();
  EXPECT_EQ(*FindPipeline((folder / "m.onnx").string()), file);
  EXPECT_EQ(*FindPipeline(folder.string()), file);
  EXPECT_EQ(*FindPipeline((folder / "other.onnx").string()), "");
  EXPECT_EQ(*FindPipeline((folder / "m.tern").string()), file) << "the optimized form of m.onnx";
  EXPECT_EQ(*FindPipeline((folder / "other.tern").string()), "");
  EXPECT_EQ(LookForPipeline((folder / "other.onnx").string())->reason,
            "'" + file + "' is for 'm.onnx', not for 'other.onnx'; its key 'model' decides this");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tern::pipeline
