// Tests importers, which are separate libraries. Tern must find them in the folder of libtern, open each of
// them once, and refuse a library of another version or build.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "load/load.h"
#include "ops/ops.h"

namespace tern::load {

Format TernFormat_Toy();
Format TernFormat_Stale();
Format TernFormat_OtherBuild();

namespace {

constexpr const char* kModel = "toy 1\ngraph @g(%x: f32[2]) -> (%y) {\n  %y = Relu(%x)\n}\n";

const FormatTable& Table() {
  static const auto* table = [] {
    auto* t = new FormatTable();
    t->Add(TernFormat_Toy());
    t->Add(TernFormat_Stale());
    t->Add(TernFormat_OtherBuild());
    return t;
  }();
  return *table;
}

Result<Loaded> Load(std::string text) {
  InitOps();
  return LoadBytes(Buffer::Borrow(text.data(), text.size(), nullptr), {}, Table());
}

bool IsOpen(const char* library) {
  void* handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
  if (handle) dlclose(handle);
  return handle != nullptr;
}

class Folder {
 public:
  Folder() {
    char name[] = "/tmp/tern_formats_XXXXXX";
    path_ = mkdtemp(name);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ + "/" + name) << text;
    return path_ + "/" + name;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(Importers, AreOpenedWhenAModelNeedsThem) {
  EXPECT_FALSE(IsOpen("libtern_toy.so"));
  EXPECT_FALSE(Load("none of these").ok());
  EXPECT_FALSE(IsOpen("libtern_toy.so"));
  EXPECT_TRUE(Load(kModel).ok());
  EXPECT_TRUE(IsOpen("libtern_toy.so"));
}

TEST(Importers, ReadBytesFilesAndFolders) {
  const auto bytes = Load(kModel);
  ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
  EXPECT_EQ(bytes->graph->NodeCount(), 1);
  EXPECT_EQ(bytes->format->name, "Toy");
  const Folder folder;
  const std::string file = folder.Write("model.toy", kModel);
  for (const std::string& path : {file, folder.path()}) {
    const auto loaded = LoadFile(path, {}, Table());
    ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
    EXPECT_EQ(loaded->graph->inputs()[0]->name, "x");
  }
}

TEST(Importers, WarningsAndErrorsReachTheCaller) {
  std::string text = kModel;
  const auto warned = Load(text.insert(6, "# a comment\n"));
  ASSERT_TRUE(warned.ok()) << warned.status().ToString();
  EXPECT_EQ(warned->warnings, std::vector<std::string>{"the comment in the first line is ignored"});
  const Folder folder;
  const std::string path = folder.Write("broken.toy", "toy 1\ngraph @g(");
  const auto broken = LoadFile(path, {}, Table());
  ASSERT_FALSE(broken.ok());
  EXPECT_NE(broken.status().ToString().find("while: loading '" + path + "'"), std::string::npos)
      << broken.status().ToString();
}

TEST(Importers, OfAnotherVersionAreRefused) {
  const auto loaded = Load("stale");
  ASSERT_FALSE(loaded.ok());
  const std::string said = loaded.status().ToString();
  EXPECT_NE(said.find("/libtern_stale.so' belongs to Tern 0.0.7, but this is "), std::string::npos) << said;
}

TEST(Importers, OfAnotherBuildAreRefused) {
  const auto loaded = Load("other build");
  ASSERT_FALSE(loaded.ok());
  const std::string said = loaded.status().ToString();
  EXPECT_NE(said.find("/libtern_other_build.so' and libtern belong to different builds of Tern "),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("(interfaces 0123456789abcdef, compiler "), std::string::npos) << said;
  EXPECT_NE(said.find("install both from the same build"), std::string::npos) << said;
}

TEST(Importers, OnnxIsOne) {
  InitOps();
  const auto loaded = LoadFile(TERN_DIGITS);
  ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
  EXPECT_EQ(loaded->format->name, "ONNX");
  EXPECT_TRUE(IsOpen("libtern_onnx.so"));
}

}  // namespace
}  // namespace tern::load
