#include "import/onnx/foreign.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>

#include "base/strings.h"

namespace tern::onnx {
namespace {

using namespace std::string_view_literals;

constexpr const char* kTorch =
    "load it in PyTorch and write the model with torch.onnx.export(model, inputs, 'model.onnx')";
constexpr const char* kScript =
    "open it with torch.jit.load and write it with torch.onnx.export(model, inputs, 'model.onnx', "
    "dynamo=False)";
constexpr const char* kLite = "convert it: python -m tf2onnx.convert --tflite FILE --output model.onnx";
constexpr const char* kSaved =
    "convert its folder: python -m tf2onnx.convert --saved-model FOLDER --output model.onnx";
constexpr const char* kFrozen =
    "convert it: python -m tf2onnx.convert --graphdef FILE --inputs NAME:0 --outputs NAME:0 --output model.onnx";
constexpr const char* kKeras = "load it in Keras and write it with model.export('model.onnx', format='onnx')";
constexpr const char* kWeights =
    "these are weights without a graph; load them into the model that they belong to and write that with "
    "torch.onnx.export(model, inputs, 'model.onnx')";
constexpr const char* kSource = "export ONNX from the framework that the model was trained in";
constexpr const char* kUnpack = "unpack it first";
constexpr const char* kInput = "it can be an input (--input), not a model";
constexpr const char* kFetch = "fetch the file itself, with git lfs pull";
constexpr const char* kAgain = "download the file itself";

struct Magic {
  size_t offset;
  std::string_view bytes;
  const char* what;
  const char* how;
};

constexpr Magic kMagics[] = {
    {4, "TFL3"sv, "a TensorFlow Lite model", kLite},
    {4, "ORTM"sv, "a model in onnxruntime's own format (.ort)", "take the .onnx that it was made from"},
    {0, "GGUF"sv, "a GGUF file (llama.cpp)", kWeights},
    {0, "\x89HDF\r\n\x1a\n"sv, "an HDF5 file, as Keras writes them (.h5)", kKeras},
    {0, "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"sv, "a PyTorch checkpoint", kTorch},
    {0, "\x80\x02"sv, "a Python pickle", kTorch},
    {0, "\x80\x03"sv, "a Python pickle", kTorch},
    {0, "\x80\x04"sv, "a Python pickle", kTorch},
    {0, "\x80\x05"sv, "a Python pickle", kTorch},
    {0, "7767517\n"sv, "an ncnn model", kSource},
    {0, "<?xml"sv, "an XML file, as OpenVINO writes its models", kSource},
    {0, "<net"sv, "an OpenVINO model", kSource},
    {0, "version https://git-lfs"sv, "a pointer to a file in Git LFS", kFetch},
    {0, "<!DOCTYPE"sv, "a web page", kAgain},
    {0, "<!doctype"sv, "a web page", kAgain},
    {0, "<html"sv, "a web page", kAgain},
    {0, "\x93NUMPY"sv, "a numpy array", kInput},
    {0, "\x89PNG\r\n"sv, "a picture", kInput},
    {0, "\xff\xd8\xff"sv, "a picture", kInput},
    {0, "\x1f\x8b"sv, "a gzip archive", kUnpack},
    {0, "BZh"sv, "a bzip2 archive", kUnpack},
    {0, "\xfd\x37zXZ"sv, "an xz archive", kUnpack},
    {0, "\x28\xb5\x2f\xfd"sv, "a zstd archive", kUnpack},
    {0, "7z\xbc\xaf\x27\x1c"sv, "a 7z archive", kUnpack},
    {257, "ustar"sv, "a tar archive", kUnpack},
};

std::string Text(const char* what, const char* how) {
  return StrCat(what, "; Tern reads .onnx and .tern files: ", how);
}

bool Holds(std::string_view bytes, std::string_view part) {
  return bytes.find(part) != std::string_view::npos;
}

// Names of a zip's files stand before each of them, and all together at its end.
std::string OfZip(std::string_view bytes) {
  if (!StartsWith(bytes, "PK\x03\x04")) return "";
  constexpr size_t kFirst = 4096, kLast = size_t{1} << 20;
  const std::string_view first = bytes.substr(0, kFirst);
  const std::string_view last = bytes.substr(bytes.size() - std::min(bytes.size(), kLast));
  const auto has = [&](std::string_view name) { return Holds(first, name) || Holds(last, name); };
  if (has("/constants.pkl")) return Text("a TorchScript model", kScript);
  if (has("/data.pkl")) return Text("a PyTorch checkpoint", kTorch);
  if (has("archive_format")) return Text("a program of torch.export (.pt2)", kTorch);
  if (has("model.weights.h5")) return Text("a Keras model", kKeras);
  if (has(".npy")) return Text("a numpy archive (.npz)", kInput);
  return Text("a zip archive", kUnpack);
}

// A length of eight bytes, then so much JSON.
std::string OfSafetensors(std::string_view bytes) {
  if (bytes.size() < 10 || bytes[8] != '{' || (bytes[9] != '"' && bytes[9] != '}')) return "";
  uint64_t length = 0;
  for (size_t i = 8; i-- > 0;) length = length << 8 | static_cast<unsigned char>(bytes[i]);
  return length <= bytes.size() - 8 ? Text("a safetensors file", kWeights) : "";
}

// Takes a field of bytes off the front of a protobuf message; false where there is none with this number.
bool TakeField(std::string_view& bytes, char tag, std::string_view& field) {
  if (bytes.empty() || bytes[0] != tag) return false;
  size_t length = 0, i = 1;
  for (int shift = 0; i < bytes.size() && shift < 35; shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[i++]);
    length |= static_cast<size_t>(byte & 0x7f) << shift;
    if (byte >= 0x80) continue;
    if (length > bytes.size() - i) return false;
    field = bytes.substr(i, length);
    bytes.remove_prefix(i + length);
    return true;
  }
  return false;
}

bool IsName(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return std::isprint(static_cast<unsigned char>(c)) != 0; });
}

// Protobuf messages have no magic: by how their first fields look.
std::string OfMessage(std::string_view bytes) {
  if (StartsWith(bytes, "\x08\x01\x12") && Holds(bytes.substr(0, size_t{64} << 20), "\x22\x05serve"))
    return Text("a TensorFlow SavedModel", kSaved);
  std::string_view first, name, op, producer;
  if (!TakeField(bytes, '\x0a', first)) return "";
  if (IsName(first) && StartsWith(bytes, "\xa2\x06")) return Text("a Caffe model", kSource);
  if (TakeField(bytes, '\x12', producer) && producer == "MindSpore")
    return Text("a MindSpore model", kSource);
  const bool node = TakeField(first, '\x0a', name) && TakeField(first, '\x12', op);
  if (node && !op.empty() && IsName(name) && IsName(op)) return Text("a TensorFlow graph (.pb)", kFrozen);
  return "";
}

std::string OfText(std::string_view bytes) {
  const std::string_view start = bytes.substr(0, 4096);
  const bool text = std::all_of(start.begin(), start.end(),
                                [](char c) { return (c >= 0x20 && c < 0x7f) || (c >= '\t' && c <= '\r'); });
  if (!text || start[0] <= 0x20) return "";
  if (Holds(start, "layer {") || Holds(start, "layer{") || Holds(start, "layers {"))
    return Text("a Caffe network as text", kSource);
  return Text("a text file", kSource);
}

}  // namespace

std::string WhatElse(const void* data, size_t size) {
  const std::string_view bytes(static_cast<const char*>(data), size);
  if (bytes.empty()) return "an empty file";
  for (const Magic& magic : kMagics)
    if (bytes.size() > magic.offset && StartsWith(bytes.substr(magic.offset), magic.bytes))
      return Text(magic.what, magic.how);
  for (const auto of : {OfZip, OfSafetensors, OfMessage, OfText})
    if (std::string found = of(bytes); !found.empty()) return found;
  return "";
}

std::string WhatElseFolder(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path folder(path);
  if (std::filesystem::is_regular_file(folder / "saved_model.pb", ignored))
    return Text("a TensorFlow SavedModel", kSaved);
  if (std::filesystem::is_regular_file(folder / "config.json", ignored))
    return Text("a folder of a model's files", kSource);
  return "";
}

}  // namespace tern::onnx
