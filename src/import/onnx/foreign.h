// What a file is that is no ONNX model: people hand over what they have.
#pragma once
#include <cstddef>
#include <string>

namespace tern::onnx {

// "a TensorFlow Lite model; Tern reads …": what the bytes are, as far as they tell, and how to come by an
// ONNX model. Empty where they tell nothing. Looks at the beginning and the end of large files only, but
// for what may be a saved TensorFlow model: at up to 64 MiB of it.
std::string WhatElse(const void* data, size_t size);
// The same of a folder; empty for a file, or a folder of no kind that is known.
std::string WhatElseFolder(const std::string& path);

}  // namespace tern::onnx
