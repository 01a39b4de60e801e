#include <gtest/gtest.h>

#include "import/caffe/operators.h"
#include "import/caffe/wire.h"
#include "import/testing.h"

namespace tern::caffe {
namespace {

const std::string kInput =
    "layer { name: 'data' type: 'Input' top: 'x' input_param { shape { dim: 1 dim: 2 dim: 4 dim: 4 } } }\n";

Result<std::unique_ptr<Graph>> Read(const std::string& text, std::vector<std::string>* warnings = nullptr) {
  InitOps();
  load::ReadContext context;
  const Buffer buffer = Buffer::Borrow(const_cast<char*>(text.data()), text.size(), nullptr);
  auto graph = tern_importer_3()->read({"", buffer, false}, context);
  if (warnings) *warnings = context.warnings;
  return graph;
}

std::string ErrorOf(const std::string& text) {
  const auto graph = Read(text);
  return graph.ok() ? "" : graph.status().ToString();
}

void ExpectError(const std::string& text, const std::vector<std::string>& parts) {
  const std::string error = ErrorOf(text);
  for (const std::string& part : parts) EXPECT_NE(error.find(part), std::string::npos) << error;
}

std::vector<std::string> OutputsOf(const std::string& text) {
  const auto graph = Read(text);
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  std::vector<std::string> out;
  if (graph.ok())
    for (const Value* v : (*graph)->outputs()) out.push_back(v->name + " " + v->type.ToString());
  return out;
}

using Texts = std::vector<std::string>;

TEST(Caffe, ReadsInputsOfAllForms) {
  const std::string relu = "layer { name: 'r' type: 'ReLU' bottom: 'x' top: 'y' }";
  const Texts wanted = {"y f32[1,2,4,4]"};
  EXPECT_EQ(OutputsOf(kInput + relu), wanted);
  EXPECT_EQ(OutputsOf("input: 'x' input_dim: 1 input_dim: 2 input_dim: 4 input_dim: 4\n" + relu), wanted);
  EXPECT_EQ(OutputsOf("input: 'x' input_shape { dim: [1, 2, 4, 4] }\n" + relu), wanted);
  EXPECT_EQ(OutputsOf("\xef\xbb\xbf# a comment\ninput: \"x\" input_shape: < dim: 1 dim: 2 dim: 4 dim: 4 >\n" +
                      relu),
            wanted);
  ExpectError("input: 'x' input_dim: 1\n" + relu, {"input_dim must have 4 numbers, got 1"});
  ExpectError("layer { name: 'd' type: 'Input' top: 'x' }" + relu, {"layer 'd' (Input)", "has no shape"});
}

TEST(Caffe, ReadsOlderFormats) {
  EXPECT_EQ(
      OutputsOf(
          "input: 'x' input_dim: 1 input_dim: 2 input_dim: 4 input_dim: 4\n"
          "layers { name: 'p' type: POOLING bottom: 'x' top: 'y' pooling_param { kernel_size: 2 stride: 2 } }"),
      Texts{"y f32[1,2,2,2]"});
  EXPECT_EQ(
      OutputsOf("input: 'x' input_dim: 1 input_dim: 2 input_dim: 4 input_dim: 4\n"
                "layers { layer { name: 'pad' type: 'padding' pad: 1 } bottom: 'x' top: 'xp' }\n"
                "layers { layer { name: 'p' type: 'pool' kernelsize: 3 stride: 1 } bottom: 'xp' top: 'y' }"),
      Texts{"y f32[1,2,4,4]"});
  ExpectError("layers { name: 'a' type: RELU bottom: 'x' top: 'x' }" + kInput, {"'layer' and 'layers'"});
}

TEST(Caffe, KeepsLayersOfTheTestPhase) {
  const std::string net =
      kInput +
      "layer { name: 'a' type: 'ReLU' bottom: 'x' top: 'train' include { phase: TRAIN } }\n"
      "layer { name: 'b' type: 'ReLU' bottom: 'x' top: 'test' include { phase: TEST } }\n"
      "layer { name: 'c' type: 'ReLU' bottom: 'x' top: 'no' exclude { phase: TEST } }\n"
      "layer { name: 'd' type: 'ReLU' bottom: 'x' top: 'stage' include { stage: 's' } }\n"
      "layer { name: 'e' type: 'ReLU' bottom: 'x' top: 'other' include { not_stage: 's' } }\n";
  EXPECT_EQ(OutputsOf(net), (Texts{"other f32[1,2,4,4]", "test f32[1,2,4,4]"}));
}

TEST(Caffe, LayersInPlaceKeepTheNameOfTheBlob) {
  EXPECT_EQ(
      OutputsOf(kInput + "layer { name: 'p' type: 'Power' bottom: 'x' top: 'y' power_param { scale: 2 } }\n"
                         "layer { name: 'r' type: 'ReLU' bottom: 'y' top: 'y' }"),
      Texts{"y f32[1,2,4,4]"});
  EXPECT_EQ(OutputsOf(kInput + "layer { name: 's' type: 'Slice' bottom: 'x' top: 'b' top: 'a' }\n"
                               "layer { name: 'q' type: 'Silence' bottom: 'a' }"),
            Texts{"b f32[1,1,4,4]"});
}

TEST(Caffe, ListsAllUnknownTypesInOneError) {
  ExpectError(kInput +
                  "layer { name: 'm' type: 'Magic' bottom: 'x' top: 'y' }\n"
                  "layer { name: 'n' type: 'Magic' bottom: 'y' top: 'z' }\n"
                  "layer { name: 'o' type: 'Python' bottom: 'z' top: 'w' }",
              {"2 operator(s)", "Magic x2 at 'm' (layer #1), 'n' (layer #2)", "Python x1"});
}

TEST(Caffe, NamesMissingWeights) {
  ExpectError(kInput +
                  "layer { name: 'c' type: 'Convolution' bottom: 'x' top: 'y' "
                  "convolution_param { num_output: 2 kernel_size: 1 } }",
              {"not found", "layer 'c' (Convolution) has weights", "--weights"});
}

TEST(Caffe, RefusesTrainingData) {
  ExpectError("layer { name: 'd' type: 'Data' top: 'data' data_param { source: 'x' anything: 5 } }",
              {"unsupported", "layer 'd' (Data)", "type: \"Input\""});
}

TEST(Caffe, ReportsUnknownFields) {
  std::vector<std::string> warnings;
  EXPECT_TRUE(
      Read(kInput + "layer { name: 'r' type: 'ReLU' bottom: 'x' top: 'y'\n magic_param { a: 1 } }", &warnings)
          .ok());
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0], "unknown fields are ignored: 'magic_param' of LayerParameter (line 3)");
  ExpectError(kInput + "layer { name: 'r' type: 'ReLU' bottom: 'x' top: 'y' relu_param { slope: 1 } }",
              {"unsupported", "'slope' of ReLUParameter (line 2)"});
}

TEST(Caffe, RefusesBrokenText) {
  ExpectError("layer { name: 'r' ", {"invalid model", "line 1"});
  ExpectError(
      kInput + "layer { name: 'p' type: 'Pooling' bottom: 'x' top: 'y' pooling_param { pool: MEDIAN } }",
      {"line 2", "MEDIAN"});
  std::string deep = "layer { name: 'x' a";
  for (int i = 0; i < 100000; ++i) deep += "{ a";
  ExpectError(deep, {"nested 100001 deep"});
  ExpectError(kInput + "layer { name: 'r' type: 'ReLU' bottom: 'z' top: 'y' }",
              {"bottom 'z' is not the top of an earlier layer"});
  ExpectError(kInput + "layer { name: 'r' type: 'ReLU' bottom: 'x' bottom: 'x' top: 'y' }",
              {"has 2 bottom(s), but must have 1"});
}

// Returns a .caffemodel with a network [1, 2] and an InnerProduct whose weights are `blob`.
std::string Model(const std::string& blob) {
  std::string shape, input, params, layer, out;
  AppendField(shape, 1, std::string("\x01\x02", 2));
  AppendField(params, 1, shape);
  AppendField(input, 1, "data");
  AppendField(input, 2, "Input");
  AppendField(input, 4, "x");
  AppendField(input, 143, params);
  AppendField(layer, 1, "ip");
  AppendField(layer, 2, "InnerProduct");
  AppendField(layer, 3, "x");
  AppendField(layer, 4, "y");
  AppendField(layer, 7, blob);
  AppendField(layer, 117, std::string("\x08\x01\x10\x00", 4));  // num_output: 1, bias_term: false
  AppendField(out, 1, "net");
  AppendField(out, 100, input);
  AppendField(out, 100, layer);
  return out;
}

TEST(Caffe, ReadsTheNetworkOfACaffemodel) {
  std::string blob, shape;
  AppendField(shape, 1, std::string("\x01\x02", 2));
  AppendField(blob, 5, std::string("\0\0\x80\x3f\0\0\0\x40", 8));
  AppendField(blob, 7, shape);
  EXPECT_EQ(OutputsOf(Model(blob)), Texts{"y f32[1,1]"});
}

TEST(Caffe, RefusesDamagedWeights) {
  std::string blob, shape;
  AppendField(shape, 1, std::string("\x01\x02", 2));
  AppendField(blob, 5, std::string(12, '\0'));
  AppendField(blob, 7, shape);
  ExpectError(Model(blob), {"a blob of dims [1,2] stores 12 bytes of f32"});
  std::string other;
  AppendField(shape, 1, std::string("\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 9));
  AppendField(other, 5, std::string(8, '\0'));
  AppendField(other, 7, shape);
  ExpectError(Model(other), {"stores 8 bytes of f32"});
  const std::string model = Model(blob);
  for (size_t size = 1; size < model.size(); ++size) EXPECT_FALSE(Read(model.substr(0, size)).ok()) << size;
}

TEST(Caffe, ListsItsLayers) {
  int bvlc = 0, imported = 0;
  for (const load::Operator& op : Operators()) {
    ++bvlc;
    imported += op.imported;
  }
  EXPECT_GE(bvlc, 61);
  EXPECT_GE(imported, 50);
}

}  // namespace
}  // namespace tern::caffe
