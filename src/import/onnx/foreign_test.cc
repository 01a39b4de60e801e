#include "import/onnx/foreign.h"

#include <gtest/gtest.h>

#include "import/onnx/importer.h"

namespace tern::onnx {
namespace {

using namespace std::string_literals;

std::string Said(const std::string& bytes) {
  const auto graph = ImportBytes(bytes.data(), bytes.size());
  return graph.ok() ? "" : graph.status().ToString();
}

void Says(const std::string& bytes, const char* what, const char* how) {
  const std::string said = Said(bytes);
  EXPECT_EQ(said.find("invalid model: not an ONNX model but "s + what), 0u) << what << ": " << said;
  EXPECT_NE(said.find("Tern reads .onnx and .tern files"), std::string::npos) << said;
  EXPECT_NE(said.find(how), std::string::npos) << said;
}

// A zip's beginning: the header of a file of this name.
std::string Zip(const std::string& name) {
  return "PK\x03\x04"s + std::string(22, '\0') + static_cast<char>(name.size()) + "\0\0\0"s + name;
}

TEST(Foreign, IsNamedByItsFirstBytes) {
  Says("\x1c\0\0\0TFL3\x14\0\x20\0"s, "a TensorFlow Lite model", "tf2onnx.convert --tflite");
  Says("\x1c\0\0\0ORTM\x14\0\x20\0"s, "a model in onnxruntime's own format", ".onnx that it was made from");
  Says("GGUF\3\0\0\0"s, "a GGUF file", "weights without a graph");
  Says("\x89HDF\r\n\x1a\n\0\0"s, "an HDF5 file", "model.export('model.onnx', format='onnx')");
  Says("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."s, "a PyTorch checkpoint",
       "torch.onnx.export");
  Says("\x80\x04\x95\0\0"s, "a Python pickle", "torch.onnx.export");
  Says("version https://git-lfs.github.com/spec/v1\noid sha256:0", "a pointer to a file in Git LFS",
       "lfs pull");
  Says("<!DOCTYPE html><html>", "a web page", "download");
  Says("\x93NUMPY\x01\0"s, "a numpy array", "--input");
  Says("\x1f\x8b\x08\0"s, "a gzip archive", "unpack");
  Says(std::string(257, '\0') + "ustar", "a tar archive", "unpack");
  EXPECT_EQ(Said(""), "invalid model: not an ONNX model but an empty file");
}

TEST(Foreign, ArchivesAreToldByTheirFiles) {
  Says(Zip("archive/data.pkl"), "a PyTorch checkpoint", "torch.onnx.export");
  Says(Zip("m/data.pkl") + Zip("m/constants.pkl"), "a TorchScript model", "torch.jit.load");
  Says(Zip("m/code/a.py") + std::string(1 << 21, '\0') + Zip("m/constants.pkl"), "a TorchScript model",
       "dynamo=False");
  Says(Zip("model.weights.h5"), "a Keras model", "model.export");
  Says(Zip("x.npy"), "a numpy archive", "--input");
  Says(Zip("readme.txt"), "a zip archive", "unpack");
}

TEST(Foreign, MessagesAndTextsAreToldByHowTheyBegin) {
  Says("\x10\0\0\0\0\0\0\0{\"a\":0       }data"s, "a safetensors file", "weights without a graph");
  Says(
      "\x0a\x0a\x0a\x01x\x12\x05"
      "Const"s,
      "a TensorFlow graph", "tf2onnx.convert --graphdef");
  Says("\x08\x01\x12\x0b\x0a\x09\x22\x05serve**"s, "a TensorFlow SavedModel",
       "tf2onnx.convert --saved-model");
  Says("\x0a\x05LeNet\xa2\x06\x02\x0a\0"s, "a Caffe model", "export ONNX");
  Says(
      "\x0a\x05"
      "0.1.1\x12\x09MindSpore:\x02\x12\0"s,
      "a MindSpore model", "export ONNX");
  Says("name: \"LeNet\"\nlayer {\n}", "a Caffe network as text", "export ONNX");
  Says("hello, world", "a text file", "export ONNX");
}

TEST(Foreign, TellsNothingOfWhatItDoesNotKnow) {
  for (const std::string& bytes :
       {std::string(100, '\0'), "\x10\0\0\0\0\0\0\0{\"a\""s, "\x0a"s, "\x0a\xff\xff\xff\xff\xff\xff"s,
        "\x0a\x7f\x0a\x7f"s, "\x08\x01\x12"s, "\1\2\3TFL3"s})
    EXPECT_EQ(WhatElse(bytes.data(), bytes.size()), "") << bytes;
}

}  // namespace
}  // namespace tern::onnx
