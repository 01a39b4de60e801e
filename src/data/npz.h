// Reads and writes numpy's .npz files. A .npz file is a zip archive of .npy files, one per tensor.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/tensor.h"

namespace tern::data {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

Result<NamedTensors> ParseNpz(std::string_view bytes);
Result<NamedTensors> ReadNpz(const std::string& path);
Result<std::string> FormatNpz(const NamedTensors& tensors, bool compress);
Status WriteNpz(const std::string& path, const NamedTensors& tensors, bool compress = false);

}  // namespace tern::data
