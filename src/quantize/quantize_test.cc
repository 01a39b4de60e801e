#include "quantize/quantize.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "data/file.h"
#include "data/npz.h"
#include "ir/builder.h"
#include "load/load.h"
#include "ops/ops.h"
#include "quantize/report.h"

namespace tern::quantize {
namespace {

// y = x · w + b, with x [N, 64] and w [64, 64].
std::unique_ptr<Graph> Model() {
  InitOps();
  auto graph = std::make_unique<Graph>("m");
  Builder b(*graph);
  Value* x = graph->AddInput("x", Type::TensorOf(DType::kF32, Shape({Dim::Symbol("N"), Dim(64)})));
  Tensor w(DType::kF32, {64, 64});
  for (int64_t i = 0; i < w.size(); ++i) w.data<float>()[i] = static_cast<float>(i % 13 - 6) / 8;
  b.At("product", "test");
  Value* y = b.Op("MatMul", {x, b.Const(std::move(w))});
  y->name = std::string("y");
  graph->SetOutputs({y});
  return graph;
}

class QuantizeTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string Path(const char* name) const { return (folder_ / name).string(); }
  std::string Samples() const {
    Tensor x(DType::kF32, {4, 64});
    for (int64_t i = 0; i < x.size(); ++i) x.data<float>()[i] = static_cast<float>(i % 7 - 3);
    EXPECT_TRUE(data::WriteNpz(Path("samples.npz"), {{"x", x}}).ok());
    return Path("samples.npz");
  }
  std::string ErrorOf(const Options& options, const std::string& output) const {
    const auto report = Quantize(Model(), "", output, options);
    return report.ok() ? "" : report.status().ToString();
  }

  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / "tern_quantize_test";
};

TEST_F(QuantizeTest, WritesAModelAndAReport) {
  Options options;
  options.calib = Samples();
  options.method = "minmax";
  options.layers = true;
  const auto report = Quantize(Model(), "", Path("int8.tern"), options);
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  for (const char* part :
       {"\"method\":\"minmax\"", "\"samples\":4", "\"layers\":1", "\"layer_errors\":[{\"name\":\"product\""})
    EXPECT_NE(report->find(part), std::string::npos) << *report;
  EXPECT_TRUE(load::LoadFile(Path("int8.tern")).ok());
}

TEST_F(QuantizeTest, QuantizesWeightsOnly) {
  Options options;
  options.weights = "int4";
  const auto report = Quantize(Model(), "", Path("int4.tern"), options);
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_NE(report->find("\"weight_bytes\":{\"before\":16384"), std::string::npos) << *report;
}

TEST(ModelBytes, CountsTheFilesOfWeights) {
  const std::string folder = testing::TempDir() + "/model_bytes";
  std::filesystem::create_directories(folder + "/variables");
  const auto write = [&](const std::string& name, size_t bytes) {
    ASSERT_TRUE(data::WriteFile(folder + "/" + name, std::string(bytes, 'x')).ok());
  };
  write("m.onnx", 10);
  EXPECT_EQ(ModelBytes(folder + "/m.onnx"), 10u);
  write("m.onnx.data", 200);
  EXPECT_EQ(ModelBytes(folder + "/m.onnx"), 210u);
  write("variables/v", 3000);
  EXPECT_EQ(ModelBytes(folder), 3210u) << "a SavedModel is a folder";
  EXPECT_EQ(ModelBytes(folder + "/none"), 0u);
  std::filesystem::remove_all(folder);
}

TEST_F(QuantizeTest, ChecksOptionsFirst) {
  Options options;
  EXPECT_NE(ErrorOf(options, Path("a.tern")).find("no calibration data"), std::string::npos);
  options.calib = Samples();
  EXPECT_NE(ErrorOf(options, Path("a.bin")).find("must end in .tern or .onnx"), std::string::npos);
  options.bits = 7;
  EXPECT_NE(ErrorOf(options, Path("a.tern")).find("bits is 7"), std::string::npos);
  options.bits = 8;
  options.keep_float = {"nothing"};
  EXPECT_NE(ErrorOf(options, Path("a.tern")).find("keep_float nothing: no Conv or MatMul"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(Path("a.tern")));
}

TEST_F(QuantizeTest, RefusesArraysThatAreNoSamples) {
  Options options;
  options.calib = Path("samples.npz");
  ASSERT_TRUE(data::WriteNpz(options.calib, {{"x", Tensor::Scalar(DType::kF32, 1)}}).ok());
  EXPECT_NE(ErrorOf(options, Path("a.tern")).find("which has no axis of samples"), std::string::npos);
  Tensor text(DType::kString, {1});
  text.data<std::string>()[0] = "a";
  ASSERT_TRUE(data::WriteNpz(options.calib, {{"x", text}}).ok());
  EXPECT_NE(ErrorOf(options, Path("a.tern")).find("must be bool or numeric"), std::string::npos);
}

}  // namespace
}  // namespace tern::quantize
