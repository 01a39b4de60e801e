// Describes formats that Tern cannot read, and files that are not models. Users pass such files by mistake.
// The error message then names the format and says what to do.
#include "load/foreign.h"
#include "load/format.h"

namespace tern::load {
namespace {

using namespace std::string_view_literals;

constexpr const char* kTorch =
    "load it in PyTorch and write the model with torch.onnx.export(model, inputs, 'model.onnx')";
constexpr const char* kScript =
    "open it with torch.jit.load and write it with torch.onnx.export(model, inputs, 'model.onnx', "
    "dynamo=False)";
constexpr const char* kLite = "convert it: python -m tf2onnx.convert --tflite FILE --output model.onnx";
constexpr const char* kKeras = "load it in Keras and write it with model.export('model.onnx', format='onnx')";
constexpr const char* kWeights =
    "the file contains weights without a graph; load them into their model in PyTorch and write the model "
    "with torch.onnx.export(model, inputs, 'model.onnx')";
constexpr const char* kSource = "export ONNX from the framework that the model was trained in";
constexpr const char* kUnpack = "unpack it first";
constexpr const char* kInput = "pass the file as an input (--input), not as a model";

void AddTensorFlow(FormatTable& t) {
  t.Add({.name = "TensorFlow Lite",
         .title = "a TensorFlow Lite model",
         .extensions = {".tflite"},
         .magic = {{4, "TFL3"sv}},
         .advice = kLite});
  t.Add({.name = "HDF5",
         .title = "an HDF5 file, as Keras writes them (.h5)",
         .extensions = {".h5", ".hdf5"},
         .magic = {{0, "\x89HDF\r\n\x1a\n"sv}},
         .advice = kKeras});
  t.Add({.name = "Keras",
         .title = "a Keras model",
         .extensions = {".keras"},
         .recognise = IsKeras,
         .advice = kKeras});
}

void AddTorch(FormatTable& t) {
  t.Add(
      {.name = "TorchScript", .title = "a TorchScript model", .recognise = IsTorchScript, .advice = kScript});
  t.Add({.name = "PyTorch",
         .title = "a PyTorch checkpoint",
         .extensions = {".pt", ".pth"},
         .magic = {{0, "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"sv}},
         .recognise = IsTorchCheckpoint,
         .advice = kTorch});
  t.Add({.name = "torch.export",
         .title = "a program of torch.export (.pt2)",
         .extensions = {".pt2"},
         .recognise = IsTorchExport,
         .advice = kTorch});
  t.Add({.name = "pickle",
         .title = "a Python pickle",
         .magic = {{0, "\x80\x02"sv}, {0, "\x80\x03"sv}, {0, "\x80\x04"sv}, {0, "\x80\x05"sv}},
         .advice = kTorch});
}

void AddOtherModels(FormatTable& t) {
  t.Add({.name = "ORT",
         .title = "a model in onnxruntime's own format (.ort)",
         .extensions = {".ort"},
         .magic = {{4, "ORTM"sv}},
         .advice = "use the .onnx that it was made from"});
  t.Add({.name = "GGUF",
         .title = "a GGUF file (llama.cpp)",
         .extensions = {".gguf"},
         .magic = {{0, "GGUF"sv}},
         .advice = kWeights});
  t.Add({.name = "safetensors",
         .title = "a safetensors file",
         .extensions = {".safetensors"},
         .recognise = IsSafetensors,
         .advice = kWeights});
  t.Add({.name = "ncnn", .title = "an ncnn model", .magic = {{0, "7767517\n"sv}}, .advice = kSource});
  t.Add({.name = "OpenVINO",
         .title = "an XML file, as OpenVINO writes its models",
         .magic = {{0, "<?xml"sv}, {0, "<net"sv}},
         .advice = kSource});
  t.Add({.name = "Transformers",
         .title = "a folder of a model's files",
         .folder_file = "config.json",
         .advice = kSource});
}

void AddArchives(FormatTable& t) {
  t.Add({.name = "npz", .title = "a numpy archive (.npz)", .recognise = IsNumpyArchive, .advice = kInput});
  t.Add({.name = "zip", .title = "a zip archive", .magic = {{0, "PK\x03\x04"sv}}, .advice = kUnpack});
  t.Add({.name = "gzip", .title = "a gzip archive", .magic = {{0, "\x1f\x8b"sv}}, .advice = kUnpack});
  t.Add({.name = "bzip2", .title = "a bzip2 archive", .magic = {{0, "BZh"sv}}, .advice = kUnpack});
  t.Add({.name = "xz", .title = "an xz archive", .magic = {{0, "\xfd\x37zXZ"sv}}, .advice = kUnpack});
  t.Add({.name = "zstd", .title = "a zstd archive", .magic = {{0, "\x28\xb5\x2f\xfd"sv}}, .advice = kUnpack});
  t.Add({.name = "7z", .title = "a 7z archive", .magic = {{0, "7z\xbc\xaf\x27\x1c"sv}}, .advice = kUnpack});
  t.Add({.name = "tar", .title = "a tar archive", .magic = {{257, "ustar"sv}}, .advice = kUnpack});
}

void AddNoModels(FormatTable& t) {
  t.Add({.name = "Git LFS",
         .title = "a pointer to a file in Git LFS",
         .magic = {{0, "version https://git-lfs"sv}},
         .advice = "fetch the file itself, with git lfs pull"});
  t.Add({.name = "HTML",
         .title = "a web page",
         .magic = {{0, "<!DOCTYPE"sv}, {0, "<!doctype"sv}, {0, "<html"sv}},
         .advice = "download the file itself"});
  t.Add({.name = "npy", .title = "a numpy array", .magic = {{0, "\x93NUMPY"sv}}, .advice = kInput});
  t.Add({.name = "picture",
         .title = "a picture",
         .magic = {{0, "\x89PNG\r\n"sv}, {0, "\xff\xd8\xff"sv}},
         .advice = kInput});
  t.Add({.name = "text", .title = "a text file", .recognise = IsPlainText, .advice = kSource});
}

}  // namespace

// The first row that matches wins, so specific formats come first. For example, PyTorch comes before zip,
// because a PyTorch checkpoint is also a zip archive.
void AddForeignFormats(FormatTable& table) {
  AddTensorFlow(table);
  AddTorch(table);
  AddOtherModels(table);
  AddArchives(table);
  AddNoModels(table);
}

}  // namespace tern::load
