#include "pipeline/pipeline.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include "data/audio/audio.h"
#include "data/image/encode.h"
#include "ir/text.h"
#include "ops/ops.h"

namespace tern::pipeline {
namespace {

// A model of one kind of item, with its pipeline.
Result<std::shared_ptr<Pipeline>> Make(const std::string& graph, const std::string& yaml,
                                       const std::string& file = "p.yaml") {
  InitOps();
  TERN_ASSIGN(std::unique_ptr<Graph> parsed, ParseGraph(graph));
  TERN_ASSIGN(const Spec spec, ParseSpec(yaml, file));
  return Pipeline::Create(std::move(parsed), spec, {});
}

std::string Png(int width, int height, std::array<uint8_t, 3> colour) {
  data::Image image(width, height, 3);
  for (size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = colour[i % 3];
  return *data::EncodePng(image);
}

// The mean of each channel of the normalised picture.
constexpr const char* kMeans = R"(graph @g(%x: f32[N,3,H,W]) -> (%y) {
  #axes: i64[2] = (2, 3)
  %y = Reduce(%x, #axes) {kind="mean", keep_dims=false}
})";
constexpr const char* kMeansYaml = R"(inputs:
  image:
    - decode_image
    - resize: 4x2
    - normalise: {scale: 1/255, mean: [0.1, 0.2, 0.3], std: [0.5, 0.25, 2]}
outputs: {means: []}
)";

TEST(Pipeline, NormalisesInTheGraph) {
  const auto pipeline = Make(kMeans, kMeansYaml);
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().ToString();
  EXPECT_EQ((*pipeline)->graph().inputs()[0]->type.ToString(), "u8[N,H,W,3]");
  const std::string png = Png(8, 8, {255, 51, 0});
  const auto items = (*pipeline)->Run({{"image", {png}}});
  ASSERT_TRUE(items.ok()) << items.status().ToString();
  const Tensor& means = (*items)[0][0].tensor;
  ASSERT_EQ(means.Describe(), "f32[3]");
  EXPECT_NEAR(LoadDouble(means, 0), 0.9 / 0.5, 1e-5);
  EXPECT_NEAR(LoadDouble(means, 1), 0.0, 1e-5);
  EXPECT_NEAR(LoadDouble(means, 2), -0.3 / 2, 1e-5);
}

TEST(Pipeline, BatchesItemsAndKeepsTheirOrder) {
  const auto pipeline = Make(kMeans, kMeansYaml);
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().ToString();
  std::vector<std::string> files;
  for (int i = 0; i < 40; ++i) files.push_back(Png(3 + i, 5, {static_cast<uint8_t>(i), 0, 0}));
  const auto items = (*pipeline)->Run({{"", {files.begin(), files.end()}}});
  ASSERT_TRUE(items.ok()) << items.status().ToString();
  for (int i = 0; i < 40; ++i)
    EXPECT_NEAR(LoadDouble((*items)[static_cast<size_t>(i)][0].tensor, 0), (i / 255.0 - 0.1) / 0.5, 1e-5);
}

TEST(Pipeline, ManyThreadsShareIt) {
  const auto pipeline = Make(kMeans, kMeansYaml);
  ASSERT_TRUE(pipeline.ok());
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const std::string png = Png(9, 9, {static_cast<uint8_t>(50 * t), 0, 0});
      for (int i = 0; i < 20; ++i) {
        const auto items = (*pipeline)->Run({{"image", {png}}});
        if (items.ok() &&
            std::abs(LoadDouble((*items)[0][0].tensor, 0) - (50 * t / 255.0 - 0.1) / 0.5) < 1e-5)
          ++good;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 80);
}

TEST(Pipeline, NormaliseFoldsIntoTheFirstConvolution) {
  const std::string yaml =
      R"(inputs: {image: [decode_image, normalise: {scale: 1/255, mean: [0.1, 0.2, 0.3], std: [0.5, 0.25, 2]}]}
outputs: {y: []}
)";
  const auto graph = [](const char* pads) {
    return StrCat(
        R"(graph @g(%x: f32[N,3,8,8]) -> (%y) {
  #w: f32[2,3,3,3] = )",
        "(",
        "0.5, -1, 2, 0.25, 1, -2, 3, 0.5, 1, 0.5, -1, 2, 0.25, 1, -2, 3, 0.5, 1, 0.5, -1, 2, 0.25, 1, -2, 3, 0.5, 1, ",
        "0.5, -1, 2, 0.25, 1, -2, 3, 0.5, 1, 0.5, -1, 2, 0.25, 1, -2, 3, 0.5, 1, 0.5, -1, 2, 0.25, 1, -2, 3, 0.5, 1)",
        "\n  %y = Conv(%x, #w) {pads=", pads, "}\n}");
  };
  for (const char* pads : {"[0,0,0,0]", "[1,1,1,1]"}) {
    const auto pipeline = Make(graph(pads), yaml);
    ASSERT_TRUE(pipeline.ok()) << pipeline.status().ToString();
    int elementwise = 0;
    for (const auto& node : (*pipeline)->graph().nodes())
      elementwise += node->op->name == "Binary" || node->op->name == "Eltwise" || node->op->name == "Scale";
    // The mean cannot be folded into a convolution with padding.
    EXPECT_EQ(elementwise, pads[1] == '0' ? 0 : 1) << PrintGraph((*pipeline)->graph());
  }
}

TEST(Pipeline, RanksLabels) {
  const auto pipeline = Make(R"(graph @g(%x: f32[1,3,2,2]) -> (%y) {
  #axes: i64[2] = (2, 3)
  %y = Reduce(%x, #axes) {kind="mean", keep_dims=false}
})",
                             "labels: [red, green, blue]\ninputs: {image: [decode_image]}\n"
                             "outputs: {colour: [softmax, top_k: 2]}\n");
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().ToString();
  const std::string png = Png(2, 2, {1, 0, 3});
  const auto items = (*pipeline)->Run({{"image", {png, png}}});
  ASSERT_TRUE(items.ok()) << items.status().ToString();
  ASSERT_EQ(items->size(), 2u);
  const ItemResult& colour = (*items)[1][0];
  ASSERT_EQ(colour.labels.size(), 2u);
  EXPECT_EQ(colour.labels[0].label, "blue");
  EXPECT_EQ(colour.labels[1].label, "red");
  EXPECT_NEAR(colour.labels[0].score, std::exp(3) / (std::exp(1) + 1 + std::exp(3)), 1e-5);
  EXPECT_EQ(ToJson({(*items)[0]}).substr(0, 48), R"({"results":[{"colour":[{"label":"blue","index":2)");
  EXPECT_NE(Describe(colour).find("blue"), std::string::npos);
}

TEST(Pipeline, ChecksNamesAndSizesAgainstTheModel) {
  const auto error = [](const std::string& yaml) {
    return Make("graph @g(%x: f32[N,3,8,8]) -> (%y) { %y = Relu(%x) }", yaml).status().message();
  };
  EXPECT_EQ(error("inputs: {a: [decode_image, crop: 7]}\noutputs: {y: []}\n"),
            "p.yaml, line 1: the steps of 'a' give 7x7, but input 'x' of the model is 8x8 (width x height)");
  EXPECT_EQ(error("inputs: {a: [decode_image, tensor: z]}\noutputs: {y: []}\n"),
            "p.yaml, line 1: the model has no input 'z'; its inputs are 'x' f32[N,3,8,8]");
  EXPECT_EQ(error("inputs: {a: [decode_image]}\noutputs: {y: [tensor: z]}\n"),
            "p.yaml, line 2: the model has no output 'z'; its outputs are 'y' f32[N,3,8,8]");
  EXPECT_EQ(error("inputs: {a: [decode_image, normalise: {mean: [1, 2]}]}\noutputs: {y: []}\n"),
            "p.yaml, line 1: normalise has 2 values, but the picture has 3 channels");
  EXPECT_EQ(error("inputs: {a: [decode_image: {channels: gray}]}\noutputs: {y: []}\n"),
            "p.yaml, line 1: input 'x' has 3 channels, but channels is gray");
}

TEST(Pipeline, RefusesBadItems) {
  const auto pipeline = Make(kMeans, StrCat(kMeansYaml, "limits: {pixels: 100, items: 2}\n"));
  ASSERT_TRUE(pipeline.ok());
  const auto error = [&](const std::vector<RawInput>& inputs) {
    return (*pipeline)->Run(inputs).status().message();
  };
  const std::string good = Png(4, 4, {1, 2, 3}), large = Png(11, 10, {1, 2, 3});
  EXPECT_NE(error({{"image", {"no picture"}}}).find("input 'image': "), std::string::npos);
  EXPECT_NE(error({{"image", {good.substr(0, good.size() / 2)}}}), "");
  EXPECT_NE(error({{"image", {large}}}).find("100"), std::string::npos);
  EXPECT_NE(error({{"image", {good, large}}}).find("item 1: "), std::string::npos);
  EXPECT_EQ(error({{"image", {good, good, good}}}), "input 'image' has 3 items, the limit is 2");
  EXPECT_EQ(error({{"image", {}}}), "input 'image' has no items");
  EXPECT_EQ(error({}), "input 'image' is missing");
  EXPECT_EQ(error({{"picture", {good}}}), "the pipeline has no input 'picture'; its inputs are 'image'");
  EXPECT_EQ(error({{"image", {good}}, {"image", {good}}}), "input 'image' is given twice");
}

TEST(Pipeline, StopsBetweenItems) {
  std::atomic<bool> cancel{false};
  int read = 0;
  const auto rows =
      ReadItems({"a", "b", "c"}, {.cancel = &cancel}, [&](std::string_view) -> Result<ItemRows> {
        cancel = ++read == 2;
        return ItemRows();
      });
  EXPECT_EQ(rows.status().code(), Code::kCancelled);
  EXPECT_EQ(read, 2);
}

TEST(Pipeline, ReadsNothingAfterItIsCancelled) {
  const std::atomic<bool> cancel{true};
  const auto pipeline = Make(kMeans, kMeansYaml);
  ASSERT_TRUE(pipeline.ok());
  const auto items = (*pipeline)->Run({{"image", {"no picture"}}}, {.cancel = &cancel});
  EXPECT_EQ(items.status().code(), Code::kCancelled) << items.status().ToString();
}

// Small files can decode to much memory. The limit counts bytes that are decoded already, so the test only
// states sizes.
TEST(Pipeline, LimitsTheDecodedBytesOfARequest) {
  const auto read = [](std::string_view) -> Result<ItemRows> {
    ItemRows rows;
    rows.decoded_bytes = kMaxRequestBytes / 4;
    return rows;
  };
  EXPECT_TRUE(ReadItems({"a", "b", "c", "d"}, {}, read).ok());
  const auto rows = ReadItems({"a", "b", "c", "d", "e"}, {}, read);
  EXPECT_EQ(rows.status().code(), Code::kInvalidArgument) << "another try would fail too";
  EXPECT_NE(rows.status().message().find("more than 1073741824 bytes"), std::string::npos)
      << rows.status().message();
  size_t total = kMaxRequestBytes - 1;
  EXPECT_TRUE(CountBytes(1, total).ok());
  EXPECT_EQ(CountBytes(1, total).code(), Code::kInvalidArgument);
}

TEST(Pipeline, FindsBoxesInTheOriginalPicture) {
  const auto pipeline = Make(R"(graph @g(%x: f32[1,3,10,10]) -> (%boxes, %scores) {
  #b: f32[1,3,4] = (0.1, 0.2, 0.5, 0.6, 0.11, 0.2, 0.5, 0.6, 0.7, 0.7, 0.9, 0.9)
  #s: f32[1,3,2] = (0.1, 0.9, 0.2, 0.8, 0.9, 0.1)
  #z: f32[] = (0)
  #axes: i64[4] = (0, 1, 2, 3)
  %n = Reduce(%x, #axes) {kind="sum", keep_dims=false} * #z
  %boxes = #b + %n
  %scores = #s + %n
})",
                             "labels: [nothing, face]\ninputs: {image: [decode_image]}\n"
                             "outputs: {faces: [boxes: {background: 0, score: 0.5, iou: 0.5}]}\n");
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().ToString();
  const std::string png = Png(200, 100, {0, 0, 0});
  const auto items = (*pipeline)->Run({{"image", {png}}});
  ASSERT_TRUE(items.ok()) << items.status().ToString();
  const auto& boxes = (*items)[0][0].boxes;
  ASSERT_EQ(boxes.size(), 1u);
  EXPECT_EQ(boxes[0].label, "face");
  EXPECT_NEAR(boxes[0].x0, 20, 1e-3);
  EXPECT_NEAR(boxes[0].y1, 60, 1e-3);
  EXPECT_NEAR(boxes[0].score, 0.9, 1e-5);
}

TEST(Pipeline, SegmentsThePicture) {
  // The largest channel of a pixel is its class.
  const auto pipeline = Make("graph @g(%x: f32[1,3,4,4]) -> (%y) { %y = Relu(%x) }",
                             "labels: [red, green, blue]\ninputs: {image: [decode_image]}\n"
                             "outputs: {classes: [segmentation]}\n");
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().ToString();
  const auto items = (*pipeline)->Run({{"image", {Png(8, 4, {10, 200, 3})}}});
  ASSERT_TRUE(items.ok()) << items.status().ToString();
  const ItemResult& result = (*items)[0][0];
  EXPECT_EQ(result.tensor.Describe(), "i32[4,8]");
  ASSERT_EQ(result.labels.size(), 1u);
  EXPECT_EQ(result.labels[0].label, "green");
  EXPECT_EQ(result.labels[0].score, 1);
}

// A detector of loud frames with a state: the state counts the frames.
TEST(Pipeline, CarriesStatesFromFrameToFrame) {
  const auto pipeline =
      Make(R"(graph @g(%x: f32[1,4], %h: f32[1,1], %sr: i64[]) -> (%p, %hn) {
  #axes: i64[1] = (1)  #one: f32[] = (1)  #z: i64[] = (0)
  %hn = %h + #one
  %p = Reduce(%x, #axes) {kind="max", keep_dims=true} + Cast(%sr * #z) {to=f32}
})",
           "inputs: {audio: [decode_audio: {rate: 8}, frames: 4]}\nstates: {h: hn}\n"
           "constants: {sr: 8}\noutputs:\n  speech: [tensor: p, threshold: 0.25]\n  count: [tensor: hn]\n");
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().ToString();
  data::Audio audio{8, 1, {0, 0, 0, 0, 0.5f, 0, 0, 0, 0.5f, 0.5f, 0, 0, 0, 0, 0, 0, 0.5f}};
  const std::string wav = *data::EncodeWav(audio);
  const auto items = (*pipeline)->Run({{"audio", {wav}}});
  ASSERT_TRUE(items.ok()) << items.status().ToString();
  const auto& spans = (*items)[0][0].spans;
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0].start, 0.5);
  EXPECT_EQ(spans[0].end, 1.5);
  EXPECT_EQ(spans[1].start, 2);
  EXPECT_EQ(spans[1].end, 17 / 8.0);
  EXPECT_EQ((*items)[0][0].tensor.Describe(), "f32[5]");
  const Tensor& count = (*items)[0][1].tensor;
  ASSERT_EQ(count.Describe(), "f32[5,1]");
  EXPECT_EQ(LoadDouble(count, 4), 5);
}

// The number of loud samples of a frame is a dim of the output, so frames cannot be joined.
TEST(Pipeline, RefusesFramesOfDifferentDims) {
  const auto pipeline = Make(R"(graph @g(%x: f32[1,4]) -> (%loud) {
  %places = NonZero(%x)
  #axes: i64[1] = (0)
  %loud = Unsqueeze(%places, #axes)
})",
                             "inputs: {audio: [decode_audio: {rate: 8}, frames: 4]}\noutputs: {loud: []}\n");
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().ToString();
  const auto run = [&](std::vector<float> samples) {
    const std::string wav = *data::EncodeWav(data::Audio{8, 1, std::move(samples)});
    return (*pipeline)->Run({{"audio", {wav}}});
  };
  const auto same = run({0.5f, 0, 0, 0.5f, 0, 0.5f, 0.5f, 0});
  ASSERT_TRUE(same.ok()) << same.status().ToString();
  EXPECT_EQ((*same)[0][0].tensor.Describe(), "i64[2,2,2]");
  const auto different = run({0.5f, 0, 0, 0, 0.5f, 0.5f, 0.5f, 0.5f});
  EXPECT_EQ(different.status().code(), Code::kInvalidArgument);
  EXPECT_EQ(different.status().message(),
            "output 'loud' is i64[1,2,1] for one frame and i64[1,2,4] for another; frames must have the same "
            "dims except the first");
}

constexpr const char* kTokenizer =
    R"({"version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
 "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null, "decoder": null,
 "model": {"type": "WordLevel", "vocab": {"[PAD]": 0, "[UNK]": 1, "a": 2, "b": 3, "c": 4}, "unk_token": "[UNK]"}})";

TEST(Pipeline, PoolsTheTokensOfSentences) {
  const auto folder = std::filesystem::temp_directory_path() / "tern_pipeline_text_test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "tokenizer.json") << kTokenizer;
  // The vector of a token is (id, 1).
  const auto pipeline =
      Make(R"(graph @g(%input_ids: i64[N,T], %attention_mask: i64[N,T]) -> (%states) {
  #table: f32[5,2] = (0, 1, 1, 1, 2, 1, 3, 1, 4, 1)
  #zero: i64[] = (0)
  %states = Gather(#table, %input_ids + %attention_mask * #zero) {axis=0}
})",
           "inputs: {text: [tokenize]}\noutputs:\n  mean: [pool]\n  unit: [pool: mean, l2_normalise]\n"
           "  largest: [pool: max]\n",
           (folder / "pipeline.yaml").string());
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().ToString();
  const auto items = (*pipeline)->Run({{"text", {"A b", "c c c"}}});
  ASSERT_TRUE(items.ok()) << items.status().ToString();
  EXPECT_EQ(LoadDouble((*items)[0][0].tensor, 0), 2.5);
  EXPECT_EQ(LoadDouble((*items)[0][0].tensor, 1), 1);
  EXPECT_EQ(LoadDouble((*items)[1][0].tensor, 0), 4);
  EXPECT_NEAR(LoadDouble((*items)[1][1].tensor, 0), 4 / std::sqrt(17.0), 1e-6);
  EXPECT_EQ(LoadDouble((*items)[0][2].tensor, 0), 3);
  EXPECT_NE((*pipeline)->Run({{"text", {"\xff"}}}).status().message().find("not valid UTF-8"),
            std::string::npos);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tern::pipeline
