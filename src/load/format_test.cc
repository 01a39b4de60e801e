#include "load/format.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "load/input_types.h"
#include "load/load.h"

namespace tern::load {
namespace {

using namespace std::string_literals;

std::string MessageOf(const std::string& bytes) {
  const auto loaded = LoadBytes(Buffer::Borrow(const_cast<char*>(bytes.data()), bytes.size(), nullptr));
  return loaded.ok() ? "" : loaded.status().ToString();
}

void ExpectMessage(const std::string& bytes, const char* what, const char* how) {
  const std::string said = MessageOf(bytes);
  EXPECT_EQ(said.find("unsupported: the file is "s + what), 0u) << what << ": " << said;
  EXPECT_NE(said.find("Tern reads " + Formats().Readable() + " models"), std::string::npos) << said;
  EXPECT_NE(said.find(how), std::string::npos) << said;
}

// Returns the name of the format that the table finds for a file with this path and these bytes.
std::string NameOf(const std::string& bytes, const std::string& path = "") {
  const Source source{path, Buffer::Borrow(const_cast<char*>(bytes.data()), bytes.size(), nullptr), false};
  const Format* format = Formats().Find(source);
  return format ? format->name : "";
}

// Returns the start of a zip archive: the local header of a file with this name.
std::string Zip(const std::string& name) {
  return "PK\x03\x04"s + std::string(22, '\0') + static_cast<char>(name.size()) + "\0\0\0"s + name;
}

// Returns the record at the end of a zip archive.
std::string ZipEnd(const std::string& comment = "") {
  return "PK\x05\x06"s + std::string(16, '\0') + static_cast<char>(comment.size()) + "\0"s + comment;
}

// Returns a length-delimited protobuf field.
std::string Field(char tag, const std::string& contents) {
  std::string field(1, tag);
  size_t length = contents.size();
  for (; length >= 0x80; length >>= 7) field += static_cast<char>(length | 0x80);
  return field + static_cast<char>(length) + contents;
}

TEST(Foreign, IsNamedByItsFirstBytes) {
  ExpectMessage("\x1c\0\0\0ORTM\x14\0\x20\0"s, "a model in onnxruntime's own format",
                ".onnx that it was made from");
  ExpectMessage("GGUF\3\0\0\0"s, "a GGUF file", "weights without a graph");
  ExpectMessage("\x89HDF\r\n\x1a\n\0\0"s, "an HDF5 file", "model.export('model.onnx', format='onnx')");
  ExpectMessage("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."s, "a PyTorch checkpoint",
                "torch.onnx.export");
  ExpectMessage("\x80\x04\x95\0\0"s, "a Python pickle", "torch.onnx.export");
  ExpectMessage("version https://git-lfs.github.com/spec/v1\noid sha256:0", "a pointer to a file in Git LFS",
                "lfs pull");
  ExpectMessage("<!DOCTYPE html><html>", "a web page", "download");
  ExpectMessage("\x93NUMPY\x01\0"s, "a numpy array", "--input");
  ExpectMessage("\x1f\x8b\x08\0"s, "a gzip archive", "unpack");
  std::string tar(257, '\0');
  tar += "ustar";
  ExpectMessage(tar, "a tar archive", "unpack");
  EXPECT_EQ(MessageOf(""), "invalid model: the file is empty");
}

TEST(Foreign, ArchivesAreRecognisedByTheirFiles) {
  ExpectMessage(Zip("archive/data.pkl"), "a PyTorch checkpoint", "torch.onnx.export");
  EXPECT_EQ(NameOf(Zip("m/data.pkl") + Zip("m/constants.pkl")), "TorchScript");
  EXPECT_EQ(NameOf(Zip("m/code/a.py") + std::string(1 << 21, '\0') + Zip("m/constants.pkl")), "TorchScript");
  EXPECT_EQ(NameOf(Zip("m/archive_format")), "torch.export");
  EXPECT_EQ(NameOf(Zip("serialized_exported_program.json") + Zip("archive/data.pkl")), "torch.export");
  ExpectMessage(Zip("model.weights.h5"), "a Keras model", "model.export");
  ExpectMessage(Zip("x.npy"), "a numpy archive", "--input");
  ExpectMessage(Zip("readme.txt") + ZipEnd(), "a zip archive", "unpack");
  ExpectMessage(Zip("readme.txt") + ZipEnd("a comment"), "a zip archive", "unpack");
}

TEST(Foreign, ArchivesWithoutTheirEndAreCutOff) {
  const std::string whole = Zip("m/archive_format") + Zip("m/data/weights/w") + ZipEnd();
  EXPECT_EQ(MessageOf(whole).find("cut off"), std::string::npos) << MessageOf(whole);
  for (const size_t size : {size_t{30}, size_t{60}, whole.size() - 22, whole.size() - 1})
    EXPECT_EQ(
        MessageOf(whole.substr(0, size)),
        StrCat("invalid model: the file is cut off: it starts as a zip archive, but the archive's directory "
               "is missing at the end of its ",
               size, " bytes; copy or export it again"));
}

TEST(InputTypes, AreTypesOfTensorsWithARank) {
  const auto types = ParseInputTypes({{"x", "f32[N,3]"}, {"count", "i64[]"}});
  ASSERT_TRUE(types.ok()) << types.status().ToString();
  EXPECT_EQ(types->at("x").ToString(), "f32[N,3]");
  EXPECT_EQ(types->at("count").ToString(), "i64[]");
  for (const char* wrong : {"", "f32", "[3]", "f32[*]", "q8[3]", "seq(f32[3])"}) {
    const auto failed = ParseInputTypes({{"x", wrong}});
    ASSERT_FALSE(failed.ok()) << wrong;
    EXPECT_EQ(failed.status().message(), StrCat("the type of input 'x': '", wrong,
                                                "' is not the type of a tensor, such as f32[1,3,224,224]"));
  }
}

TEST(Foreign, MessagesAndTextsAreRecognisedByTheirStart) {
  ExpectMessage("\x10\0\0\0\0\0\0\0{\"a\":0       }data"s, "a safetensors file", "weights without a graph");
  ExpectMessage("hello, world", "a text file", "export ONNX");
}

TEST(Formats, TensorFlowIsRecognisedByItsStart) {
  EXPECT_EQ(NameOf("\x0a\x0a\x0a\x01x\x12\x05"
                   "Const"s),
            "GraphDef");
  EXPECT_EQ(NameOf("# a graph\nnode {\n  name: \"x\"\n  op: \"Const\"\n}\n"), "GraphDef");
  EXPECT_EQ(NameOf("\x08\x01\x12\x0b\x0a\x09\x22\x05serve**"s), "SavedModel");
  EXPECT_EQ(NameOf("saved_model_schema_version: 1\nmeta_graphs {\n}\n"), "SavedModel as text");
}

TEST(Foreign, OtherBytesAreNotRecognised) {
  for (const std::string& bytes :
       {std::string(100, '\0'), "\x10\0\0\0\0\0\0\0{\"a\""s, "\x0a"s, "\x0a\xff\xff\xff\xff\xff\xff"s,
        "\x0a\x7f\x0a\x7f"s, "\x08\x01\x12"s, "\1\2\3TFL3"s}) {
    EXPECT_EQ(NameOf(bytes), "") << bytes;
    EXPECT_EQ(MessageOf(bytes).find("invalid model: the format is unknown"), 0u) << MessageOf(bytes);
  }
}

TEST(Foreign, NamesHaveAtMost4KiB) {
  const auto caffe = [](size_t length) {
    return Field('\x0a', std::string(length, 'n')) + "\xa2\x06\x02\x0a\0"s;
  };
  EXPECT_EQ(NameOf(caffe(4096)), "Caffe");
  EXPECT_EQ(NameOf(caffe(4097)), "");
  const auto graph = [](size_t name, size_t op) {
    return Field('\x0a', Field('\x0a', std::string(name, 'n')) + Field('\x12', std::string(op, 'o')));
  };
  EXPECT_EQ(NameOf(graph(4096, 4096)), "GraphDef");
  EXPECT_EQ(NameOf(graph(4097, 1)), "");
  EXPECT_EQ(NameOf(graph(1, 4097)), "");
  const auto mind = [](size_t version) {
    return Field('\x0a', std::string(version, '1')) + Field('\x12', "MindSpore");
  };
  EXPECT_EQ(NameOf(mind(4096)), "MindSpore");
  EXPECT_EQ(NameOf(mind(4097)), "");
}

TEST(Formats, OnnxIsRecognisedByItsFields) {
  EXPECT_EQ(NameOf("\x08\x07\x3a\x02\x12\0"s), "ONNX");                       // version, graph
  EXPECT_EQ(NameOf("\x3a\x02\x12\0\x08\x07"s), "ONNX");                       // graph, version
  EXPECT_EQ(NameOf("\x08\x07\x12\x07pytorch\x3a\xff\xff\x7f\x0a"s), "ONNX");  // the graph is truncated
  EXPECT_EQ(NameOf("\x08\x07\xf8\x07\x01\x3a\0"s), "ONNX");                   // a field of a later version
  EXPECT_EQ(NameOf("\x08\x07\x12\x04TFL3\x3a\0"s), "ONNX");  // another format's magic in a name
  EXPECT_EQ(NameOf("\x08\x07"s), "");                        // no graph
  EXPECT_EQ(NameOf("\x08\x07\x38\x01"s), "");                // the graph is a number
  EXPECT_EQ(NameOf("\x08\x07\x3b\x3c\x3a\0"s), "");          // ONNX has no protobuf groups
}

TEST(Formats, ContentsDecideThenTheExtension) {
  EXPECT_EQ(NameOf("TERNMODL", "odd.onnx"), "Tern");
  EXPECT_EQ(NameOf("GGUF", "odd.onnx"), "GGUF");
  EXPECT_EQ(NameOf(std::string(100, '\0'), "cut.onnx"), "ONNX");
  EXPECT_EQ(NameOf(std::string(100, '\0'), "cut.tflite"), "TensorFlow Lite");
  EXPECT_EQ(NameOf(std::string(100, '\0'), "cut.bin"), "");
}

TEST(Formats, TheExtensionDecidesBetweenReaders) {
  const auto read = [](const Source&, ReadContext&) -> Result<std::unique_ptr<Graph>> { return Status(); };
  FormatTable table;
  table.Add({.name = "a", .extensions = {".a"}, .magic = {{0, "same"}}, .read = read});
  table.Add({.name = "b", .extensions = {".b"}, .magic = {{0, "same"}}, .read = read});
  std::string bytes = "same bytes";
  const Buffer buffer = Buffer::Borrow(bytes.data(), bytes.size(), nullptr);
  EXPECT_EQ(table.Find({"x.b", buffer, false})->name, "b");
  EXPECT_EQ(table.Find({"x.a", buffer, false})->name, "a");
  EXPECT_EQ(table.Find({"", buffer, false})->name, "a");
}

TEST(Formats, ARowWithAReaderReplacesTheOneWithout) {
  FormatTable table;
  AddForeignFormats(table);
  const size_t rows = table.rows().size();
  table.Add(
      {.name = "TensorFlow Lite", .extensions = {".tflite"}, .magic = {{4, "TFL3"}}, .library = "tflite"});
  EXPECT_EQ(table.rows().size(), rows);
  EXPECT_EQ(table.Readable(), "TensorFlow Lite (.tflite)");
}

TEST(Formats, RowsAreComplete) {
  for (const Format& f : Formats().rows()) {
    EXPECT_FALSE(f.title.empty()) << f.name;
    EXPECT_TRUE(!f.magic.empty() || f.recognise || !f.folder_file.empty())
        << f.name << " is never recognised";
    EXPECT_NE(f.readable(), !f.advice.empty()) << f.name << " needs a reader or advice, not both";
  }
}

TEST(Load, ListsTheModelFilesOfAFolder) {
  namespace fs = std::filesystem;
  std::string folder = (fs::temp_directory_path() / "tern-test-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  for (const char* name : {"b.onnx", "a.tern", "net.prototxt", "net.caffemodel", "only.caffemodel",
                           "config.pbtxt", ".hidden.onnx", "notes.txt", "w.pt"})
    std::ofstream(folder + "/" + name) << "x";
  fs::create_directory(folder + "/folder.onnx");
  EXPECT_EQ(Join(ModelFilesIn(folder), " "), "a.tern b.onnx net.prototxt only.caffemodel w.pt");
  EXPECT_TRUE(ModelFilesIn(folder + "/none").empty());
  fs::remove_all(folder);
}

TEST(Formats, AMissingLibraryIsNamedWithTheFolder) {
  const auto reader = ReaderOf({.name = "Nowhere", .library = "nowhere"});
  ASSERT_FALSE(reader.ok());
  const std::string said = reader.status().ToString();
  for (const char* part : {"libtern_nowhere.so", "reads Nowhere models", "is missing", "/bin/', beside Tern"})
    EXPECT_NE(said.find(part), std::string::npos) << said;
}

}  // namespace
}  // namespace tern::load
