// Builds small .pt2 archives in unit tests.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "data/zip.h"

namespace tern::torch {

inline std::string ZipOf(const std::vector<std::pair<std::string, std::string>>& files,
                         bool compress = false) {
  data::ZipWriter zip(compress);
  for (const auto& [name, text] : files) (void)zip.Add("m/" + name, text).ok();
  return zip.Finish();
}

inline std::string MetaOf(const std::string& sizes, int dtype = 7) {
  return "{\"dtype\":" + std::to_string(dtype) + ",\"sizes\":[" + sizes +
         "],\"strides\":[],\"storage_offset\":{\"as_int\":0},\"layout\":7}";
}

// A program with the input x, the given nodes and outputs.
inline std::string ProgramOf(const std::string& nodes, const std::string& output = "y",
                             const std::string& sizes = "{\"as_int\":2},{\"as_int\":3}") {
  const std::string arg = "{\"as_tensor\":{\"name\":\"x\"}}",
                    result = "{\"as_tensor\":{\"name\":\"" + output + "\"}}";
  return "{\"graph_module\":{\"graph\":{\"inputs\":[" + arg + "],\"outputs\":[" + result + "],\"nodes\":[" +
         nodes + "],\"tensor_values\":{\"x\":" + MetaOf(sizes) +
         "}},\"signature\":{\"input_specs\":[{\"user_input\":{\"arg\":" + arg +
         "}}],\"output_specs\":[{\"user_output\":{\"arg\":" + result +
         "}}]}},\"schema_version\":{\"major\":8,\"minor\":1}}";
}

// A node with tensor arguments: {{"self", "x"}}.
inline std::string NodeOf(const std::string& target,
                          const std::vector<std::pair<std::string, std::string>>& tensors,
                          const std::string& output, const std::string& more = "") {
  std::string inputs;
  for (const auto& [name, value] : tensors) {
    if (!inputs.empty()) inputs += ",";
    inputs += "{\"name\":\"" + name + "\",\"arg\":{\"as_tensor\":{\"name\":\"" + value + "\"}}}";
  }
  return "{\"target\":\"" + target + "\",\"inputs\":[" + inputs + more +
         "],\"outputs\":[{\"as_tensor\":{\"name\":\"" + output + "\"}}],\"metadata\":{}}";
}

inline std::string ArchiveOf(const std::string& program) {
  return ZipOf({{"archive_format", "pt2"}, {"models/model.json", program}});
}

}  // namespace tern::torch
