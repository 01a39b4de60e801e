// Table of model formats: how each is recognised, and which library reads it.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/buffer.h"
#include "ir/graph.h"

namespace tern::load {

// The model to read: a file, a folder, or bytes in memory.
struct Source {
  std::string path;     // empty for bytes in memory, which cannot refer to external files
  Buffer bytes;         // empty for a folder
  bool folder = false;  // path is a folder

  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

struct ReadContext {
  int threads = 0;                    // for copying weights; 0: one per core
  std::vector<std::string> warnings;  // output: one sentence for each property of the file that is ignored
};

// Must not throw: use Guard.
using ReadFunction = Result<std::unique_ptr<Graph>> (*)(const Source& source, ReadContext& context);

// Bytes at a fixed offset of a file.
struct Magic {
  size_t offset = 0;
  std::string_view bytes;
};

// One row of the table. A file has this format if one of `magic` matches or `recognise` returns true. A
// folder has it if it contains `folder_file`. A file that no row recognises is matched by its extension.
struct Format {
  std::string name;                               // "ONNX": unique in the table
  std::string title;                              // "an ONNX model", for messages
  std::vector<std::string> extensions = {};       // ".onnx"
  std::vector<Magic> magic = {};                  // alternatives
  bool (*recognise)(std::string_view) = nullptr;  // gets all bytes of the file; must not throw
  std::string folder_file = {};                   // "saved_model.pb"
  std::string library = {};                       // "onnx": libtern_onnx.so reads it
  ReadFunction read = nullptr;                    // reads it without a library
  std::string advice = {};                        // for a format without a reader: what the user can do

  bool readable() const { return read || !library.empty(); }
  bool MatchesContents(const Source& source) const;
  bool MatchesExtension(std::string_view path) const;
};

class FormatTable {
 public:
  // A row with a reader replaces a row of the same name without one.
  void Add(Format format);
  // Returns the row for a source, or null. Rows that match the contents win over rows that match the
  // extension. Among these, rows with a reader win over rows without one. The extension decides between
  // several rows with a reader.
  const Format* Find(const Source& source) const;
  // Returns the formats with a reader as text: "ONNX (.onnx) and Tern (.tern)".
  std::string Readable() const;
  const std::vector<Format>& rows() const { return rows_; }

 private:
  std::vector<Format> rows_;
};

// All formats of this build.
const FormatTable& Formats();
// Adds rows for formats without a reader, and for files that are not models. They give better error messages.
void AddForeignFormats(FormatTable& table);

// TERN_FORMAT(Name) { return {.name = …}; } in src/import/<folder>/format.cc; the build collects these rows.
#define TERN_FORMAT(Name) Format TernFormat_##Name()

}  // namespace tern::load
