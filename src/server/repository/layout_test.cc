#include "server/repository/layout.h"

#include "model_config.pb.h"
#include "server/repository/read_config.h"
#include "server/repository/temporary.h"
#include "server/repository/test_support.h"

namespace tern::server {
namespace {

namespace fs = std::filesystem;

ModelSource SourceIn(const TestFolder& folder, const std::string& name) {
  return {name, fs::canonical(folder.path() + "/" + name), "", false};
}

TEST(Layout, ListsModels) {
  TestFolder a, b;
  a.Write("one/1/model.onnx", "");
  a.Write("both/1/model.onnx", "");
  a.Write("file.txt", "");
  a.Write(".hidden/1/model.onnx", "");
  b.Write("both/1/model.onnx", "");
  RepositoryOptions options;
  options.folders = {a.path(), b.path()};
  options.models = {{"flat", a.Write("x/some.onnx", "")}};
  const auto models = ListModels(options);
  ASSERT_TRUE(models.ok());
  EXPECT_EQ(models->count("one"), 1u);
  EXPECT_EQ(models->at("both").size(), 2u);
  EXPECT_TRUE(models->at("flat")[0].flat);
  EXPECT_EQ(models->size(), 4u) << "one, both, x, flat";
  options.folders.push_back("/does/not/exist");
  EXPECT_FALSE(ListModels(options).ok());
  options.folders.clear();
  options.models = {{"../flat", a.path()}};
  EXPECT_EQ(ListModels(options).status().message(), "model name must not contain path traversal characters");
}

TEST(Layout, SelectsVersions) {
  TestFolder folder;
  for (const char* version : {"1", "2", "10", "0", "03", "x", "-1"})
    folder.Write(StrCat("m/", version, "/model.onnx"), "");
  const auto versions = ListVersions(SourceIn(folder, "m"), true);
  EXPECT_EQ(versions, (std::vector<std::string>{"1", "2", "10"}));
  const auto select = [&](const char* policy) {
    ConfigMessage message;
    EXPECT_TRUE(ParseConfigText(policy, message).ok());
    std::vector<std::string> missing;
    auto out = SelectVersions(message, versions, missing);
    out.insert(out.end(), missing.begin(), missing.end());
    return Join(out, " ");
  };
  EXPECT_EQ(select(""), "10");
  EXPECT_EQ(select("version_policy { latest { num_versions: 2 } }"), "2 10");
  EXPECT_EQ(select("version_policy { latest { num_versions: 20 } }"), "1 2 10");
  EXPECT_EQ(select("version_policy { all {} }"), "1 2 10");
  EXPECT_EQ(select("version_policy { specific { versions: [ 10, 1, 7, 1 ] } }"), "1 10 7");
}

TEST(Layout, FindsModelFiles) {
  TestFolder folder;
  folder.Write("m/1/model.onnx", "");
  folder.Write("m/1/other.onnx", "");
  folder.Write("m/2/odd.onnx", "");
  folder.Write("m/2/readme.txt", "");
  folder.Write("m/3/a.onnx", "");
  folder.Write("m/3/b.onnx", "");
  fs::create_directories(folder.path() + "/m/4");
  const ModelSource source = SourceIn(folder, "m");
  const auto find = [&](const char* version, const char* file, bool needs = true) {
    const auto files = FindFiles(source, version, file, needs);
    return files.ok() ? fs::path(files->file).filename().string() : files.status().message();
  };
  EXPECT_EQ(find("1", ""), "model.onnx");
  EXPECT_EQ(find("1", "other.onnx"), "other.onnx");
  EXPECT_EQ(find("2", ""), "odd.onnx");
  EXPECT_EQ(find("3", "").substr(0, 29), "several model files are there");
  folder.Write("m/5/net.prototxt", "");
  folder.Write("m/5/net.caffemodel", "");
  folder.Write("m/5/config.pbtxt", "");
  EXPECT_EQ(find("5", ""), "net.prototxt");
  folder.Write("m/6/saved_model.pb", "");
  folder.Write("m/6/fingerprint.pb", "");
  EXPECT_EQ(find("6", ""), "6");
  folder.Write("m/7/model.pt", "");
  folder.Write("m/7/other.pt", "");
  EXPECT_EQ(find("7", ""), "model.pt");
  EXPECT_EQ(find("4", "").substr(0, 26), "no model file is there; Te");
  EXPECT_EQ(find("4", "", false), "") << "plug-ins may need no file";
  EXPECT_EQ(find("1", "missing.onnx"), "file 'missing.onnx' is not in the model's folder");
  EXPECT_EQ(find("1", "../2/odd.onnx"), "file name '../2/odd.onnx' must not leave the model's folder");
  EXPECT_EQ(find("1", "/etc/passwd"), "file name '/etc/passwd' must not leave the model's folder");
}

TEST(Layout, RefusesLinksThatLeaveTheFolder) {
  TestFolder folder, outside;
  const std::string secret = outside.Write("secret.onnx", "");
  folder.Write("m/1/real.onnx", "");
  fs::create_symlink(secret, folder.path() + "/m/1/model.onnx");
  fs::create_symlink("real.onnx", folder.path() + "/m/1/inside.onnx");
  fs::create_symlink(outside.path(), folder.path() + "/m/2");
  fs::create_symlink(secret, folder.path() + "/m/config.pbtxt");
  fs::create_symlink("loop", folder.path() + "/m/loop");
  const ModelSource source = SourceIn(folder, "m");
  EXPECT_EQ(FindFiles(source, "1", "", true).status().message(),
            "file 'model.onnx' is a symbolic link that leaves the model's folder");
  EXPECT_TRUE(FindFiles(source, "1", "inside.onnx", true).ok());
  EXPECT_FALSE(FindFiles(source, "2", "secret.onnx", true).ok());
  EXPECT_FALSE(FindConfig(source).ok());
  EXPECT_FALSE(FileInside(source.folder, "loop").ok());
  EXPECT_FALSE(FileInside(source.folder, "").ok());
}

TEST(Layout, FingerprintsChange) {
  TestFolder folder;
  folder.Write("m/config.pbtxt", "a");
  folder.Write("m/1/model.onnx", "a");
  const std::string path = folder.path() + "/m";
  const std::string before = Fingerprint(path), without = Fingerprint(path, true);
  EXPECT_EQ(Fingerprint(path), before);
  folder.Write("m/1/model.onnx", "ab");
  EXPECT_NE(Fingerprint(path), before) << "the size changed";
  EXPECT_EQ(Fingerprint(path, true), without);
  const std::string size = Fingerprint(path);
  fs::last_write_time(path + "/1/model.onnx", fs::file_time_type::clock::now() + std::chrono::seconds(5));
  EXPECT_NE(Fingerprint(path), size) << "the time changed";
  folder.Write("m/labels.txt", "");
  EXPECT_NE(Fingerprint(path, true), without);
}

TEST(Layout, ReadsConfigurations) {
  TestFolder folder;
  folder.Write("text/config.pbtxt", "max_batch_size: 3 backend: 'b'");
  folder.Write("yaml/config.yaml", "{max_batch_size: 3, backend: b}");
  folder.Write("none/1/model.onnx", "");
  folder.Write("other/1/x.tern", "");
  folder.Write("wrong/config.pbtxt", "name: 'right'");
  folder.Write("bad/config.pbtxt", "name: ");
  folder.Write("trt/config.pbtxt", "platform: 'strange'");
  const auto read = [&](const std::string& name, ConfigMessage& message, const std::string& json = "") {
    return ReadConfig(SourceIn(folder, name), json, message).message();
  };
  ConfigMessage message;
  EXPECT_EQ(read("text", message), "");
  EXPECT_EQ(message.max_batch_size(), 3);
  EXPECT_EQ(message.name(), "text");
  EXPECT_EQ(read("yaml", message), "");
  EXPECT_EQ(message.max_batch_size(), 3);
  EXPECT_EQ(read("none", message), "");
  EXPECT_EQ(message.platform(), "onnxruntime_onnx");
  EXPECT_EQ(message.backend(), "onnxruntime");
  EXPECT_EQ(message.default_model_filename(), "model.onnx");
  EXPECT_EQ(read("other", message), "");
  EXPECT_EQ(message.backend(), "tern");
  EXPECT_EQ(read("text", message, R"({"max_batch_size":5,"backend":"b"})"), "");
  EXPECT_EQ(message.max_batch_size(), 5);
  EXPECT_EQ(read("wrong", message),
            "the configuration names the model 'right', but its folder is 'wrong'; the two must be equal");
  EXPECT_EQ(read("bad", message).substr(0, 20), "model configuration,");
  EXPECT_EQ(read("trt", message), "platform 'strange' is unknown; set backend");
}

TEST(TemporaryFolder, HoldsFilesUntilItEnds) {
  std::string path;
  {
    const auto folder = TemporaryFolder::Create({{"1/model.onnx", "abc"}, {"1/sub/x", ""}});
    ASSERT_TRUE(folder.ok()) << folder.status().message();
    path = (*folder)->path();
    EXPECT_EQ(fs::file_size(path + "/1/model.onnx"), 3u);
    EXPECT_EQ(fs::status(path).permissions() & (fs::perms::group_all | fs::perms::others_all),
              fs::perms::none);
  }
  EXPECT_FALSE(fs::exists(path));
  for (const char* name : {"", "model.onnx", "/1/model.onnx", "../1/model.onnx", "1/../../x", "1/", "./x"})
    EXPECT_FALSE(TemporaryFolder::Create({{name, "abc"}}).ok()) << name;
}

}  // namespace
}  // namespace tern::server
