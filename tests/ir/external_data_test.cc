// Tests weights in external files. A test changes the file, or replaces it by a link, between two loads or
// during a load.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "onnx_model.h"

namespace tern {
namespace {

namespace fs = std::filesystem;

void Write(const fs::path& path, const std::vector<float>& values) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(float)));
}

class ExternalData : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "tern_external_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    outside_ = name;
    folder_ = outside_ / "model";
    fs::create_directory(folder_);
    Model model;
    for (const char* w : {"v", "w"}) {
      auto* tensor = model.Weight(w, {2}, {});
      tensor->set_data_location(pb::TensorProto::EXTERNAL);
      auto* entry = tensor->add_external_data();
      entry->set_key("location");
      entry->set_value("w.bin");
    }
    model.Add("Add", {"x", "w"}, {"s"});
    model.Add("Mul", {"s", "v"}, {"y"});
    std::ofstream(folder_ / "m.onnx", std::ios::binary) << model.proto.SerializeAsString();
  }
  void TearDown() override { fs::remove_all(outside_); }

  Result<std::unique_ptr<Graph>> Load() const { return onnx::ImportFile((folder_ / "m.onnx").string()); }
  static std::vector<Tensor> Weights(const Graph& graph) {
    std::vector<Tensor> weights;
    for (const auto& v : graph.values())
      if (v->is_constant()) weights.push_back(v->constant);
    return weights;
  }
  static float FirstOf(const Graph& graph) { return Weights(graph).at(0).data<float>()[0]; }

  fs::path outside_, folder_;
};

TEST_F(ExternalData, IsMappedOncePerLoad) {
  Write(folder_ / "w.bin", {1, 2});
  auto graph = Load();
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  const auto weights = Weights(**graph);
  ASSERT_EQ(weights.size(), 2u);
  EXPECT_EQ(weights[0].raw(), weights[1].raw());
}

TEST_F(ExternalData, IsReadAnewWhenTheFileWasReplaced) {
  Write(folder_ / "w.bin", {1, 2});
  auto first = Load();
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  Write(folder_ / "new.bin", {7, 8});
  fs::rename(folder_ / "new.bin", folder_ / "w.bin");
  auto second = Load();
  ASSERT_TRUE(second.ok()) << second.status().ToString();
  EXPECT_EQ(FirstOf(**first), 1);
  EXPECT_EQ(FirstOf(**second), 7);
  fs::remove(folder_ / "w.bin");
  EXPECT_FALSE(Load().ok());
  EXPECT_EQ(FirstOf(**second), 7);
}

TEST_F(ExternalData, LinksMayPointInsideTheFolderOnly) {
  Write(outside_ / "secret.bin", {42, 42});
  Write(folder_ / "good.bin", {1, 2});
  fs::create_symlink("good.bin", folder_ / "w.bin");
  EXPECT_TRUE(Load().ok());
  fs::remove(folder_ / "w.bin");
  fs::create_symlink(outside_ / "secret.bin", folder_ / "w.bin");
  auto graph = Load();
  ASSERT_FALSE(graph.ok());
  EXPECT_NE(graph.status().message().find("leaves the model's folder"), std::string::npos);
}

// A thread repeatedly replaces w.bin: by a symbolic link to a file outside the model's folder, and then by a
// hard link to a file inside the folder. A load that succeeds must have read the file inside the folder.
TEST_F(ExternalData, LinksSwappedDuringALoadDoNotLetItOut) {
  Write(outside_ / "secret.bin", {42, 42});
  Write(folder_ / "good.bin", {1, 2});
  fs::create_hard_link(folder_ / "good.bin", folder_ / "w.bin");
  std::atomic<bool> done = false;
  std::thread swapper([&] {
    for (int i = 0; !done; ++i) {
      const fs::path next = folder_ / "next";
      if (i % 2)
        fs::create_hard_link(folder_ / "good.bin", next);
      else
        fs::create_symlink(outside_ / "secret.bin", next);
      fs::rename(next, folder_ / "w.bin");
      fs::remove(next);  // rename() does nothing if both names are hard links to the same file
    }
  });
  int loaded = 0, stolen = 0;
  for (int i = 0; i < 3000; ++i) {
    auto graph = Load();
    if (!graph.ok()) continue;
    ++loaded;
    stolen += FirstOf(**graph) == 42;
  }
  done = true;
  swapper.join();
  EXPECT_GT(loaded, 0);
  EXPECT_EQ(stolen, 0);
}

}  // namespace
}  // namespace tern
