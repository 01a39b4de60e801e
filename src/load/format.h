// The table of model formats. A row describes how a format is recognised, and which library reads it.
#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/buffer.h"
#include "ir/graph.h"

namespace tern::load {

// The model to read: a file, a folder, or bytes in memory.
struct Source {
  std::string path;     // empty for bytes in memory; such a model cannot refer to external files
  Buffer bytes;         // empty for a folder
  bool folder = false;  // path is a folder

  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

// How a model is read.
struct LoadOptions {
  int threads = 0;      // the number of threads that copy weights; 0 means one per core
  std::string weights;  // a file with the weights, for a format that keeps them apart (Format::uses_weights)
  std::string
      signature;  // which of several entry points to read (Format::uses_signature); empty: the default
  // Types of inputs by name, for a format whose files do not declare them (Format::uses_input_types). Other
  // formats ignore them.
  std::map<std::string, Type> input_types = {};
};

struct ReadContext : LoadOptions {
  std::vector<std::string> warnings;  // output: one sentence for each ignored property of the file
};

// An operator of a format.
struct Operator {
  std::string name;       // with the prefix of its domain, if any: "Conv", "com.microsoft.FastGelu"
  bool imported = false;  // whether Tern imports it
};

// Reads a model. Must not throw. Use Guard in the function, which converts exceptions into a Status.
using ReadFunction = Result<std::unique_ptr<Graph>> (*)(const Source& source, ReadContext& context);
// Returns all operators that the format defines, and the others that Tern imports.
using OperatorsFunction = std::vector<Operator> (*)();

// Bytes at a fixed offset of a file.
struct Magic {
  size_t offset = 0;
  std::string_view bytes;
};

// One row of the table. A file has this format if one of `magic` matches or `recognise` returns true. A
// folder has this format if it contains `folder_file`. A file that no row matches by its contents has the
// format of its extension.
struct Format {
  std::string name;                               // "ONNX"; unique in the table
  std::string title;                              // "an ONNX model", for messages
  std::vector<std::string> extensions = {};       // ".onnx"
  std::vector<Magic> magic = {};                  // one match is enough
  bool (*recognise)(std::string_view) = nullptr;  // gets all bytes of the file; must not throw
  std::string folder_file = {};                   // "saved_model.pb"
  std::string library = {};                       // "onnx": libtern_onnx.so reads this format
  ReadFunction read = nullptr;                    // reads this format without a library
  std::string advice = {};                        // for a format without a reader: what the user can do
  bool uses_weights = false;                      // whether the reader uses LoadOptions::weights
  bool uses_signature = false;                    // whether the reader uses LoadOptions::signature
  bool uses_input_types = false;                  // whether the reader uses LoadOptions::input_types

  bool readable() const { return read || !library.empty(); }
  bool MatchesContents(const Source& source) const;
  bool MatchesExtension(std::string_view path) const;
};

class FormatTable {
 public:
  // A row with a reader replaces a row of the same name that has no reader.
  void Add(Format format);
  // Returns the row for a source, or null. First tries to match the contents, then the extension. In both
  // cases, tries rows with a reader before rows without a reader. If several rows with a reader match the
  // contents, a row that also matches the extension wins.
  const Format* Find(const Source& source) const;
  // Returns the formats with a reader as text: "ONNX (.onnx) and Tern (.tern)".
  std::string Readable() const;
  const std::vector<Format>& rows() const { return rows_; }

 private:
  std::vector<Format> rows_;
};

// All formats of this build.
const FormatTable& Formats();
// Adds rows for formats that Tern cannot read, and for files that are not models. They improve error
// messages.
void AddForeignFormats(FormatTable& table);

// An importer defines its row in src/import/<folder>/format.cc: TERN_FORMAT(Name) { return {.name = …}; }
// The build collects these rows.
#define TERN_FORMAT(Name) Format TernFormat_##Name()

}  // namespace tern::load
