// Model formats: how a file is recognised, and which library reads it.
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
  std::string path;     // empty for bytes in memory: files beside the model do not exist then
  Buffer bytes;         // of a folder: empty
  bool folder = false;  // path is a folder

  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

struct ReadContext {
  int threads = 0;                    // that may copy weights; 0: one per core
  std::vector<std::string> warnings;  // gets what the file says and the reader ignores, a sentence each
};

// Never throws: ends its own exceptions with Guard.
using ReadFunction = Result<std::unique_ptr<Graph>> (*)(const Source& source, ReadContext& context);

// Bytes at a fixed place of a file.
struct Magic {
  size_t offset = 0;
  std::string_view bytes;
};

// One row of the table. A file belongs to a format when one of `magic` or `recognise` says so, a folder when
// it holds `folder_file`. Files that no row recognises go by their extension.
struct Format {
  std::string name;                               // "ONNX": unique in the table
  std::string title;                              // "an ONNX model", for messages
  std::vector<std::string> extensions = {};       // ".onnx"
  std::vector<Magic> magic = {};                  // one of them is enough
  bool (*recognise)(std::string_view) = nullptr;  // where no magic tells; sees all bytes, must not throw
  std::string folder_file = {};                   // "saved_model.pb"
  std::string library = {};                       // "onnx": libtern_onnx.so reads it
  ReadFunction read = nullptr;                    // reads it without a library
  std::string way_to_onnx = {};                   // where nothing reads it yet: what the user can do

  bool readable() const { return read || !library.empty(); }
  bool MatchesContents(const Source& source) const;
  bool MatchesExtension(std::string_view path) const;
};

class FormatTable {
 public:
  // A row with a reader replaces a row of the same name without one.
  void Add(Format format);
  // The row for a source, or null. Contents decide; rows with a reader come before those without, and the
  // extension decides between several rows with a reader.
  const Format* Find(const Source& source) const;
  // "ONNX (.onnx) and Tern (.tern)": what can be read.
  std::string Readable() const;
  const std::vector<Format>& rows() const { return rows_; }

 private:
  std::vector<Format> rows_;
};

// Every format that this build knows.
const FormatTable& Formats();
// Formats that nothing reads yet, and files that are no models. FormatTable::Add replaces those that get a
// reader.
void AddForeignFormats(FormatTable& table);

// TERN_FORMAT(Name) { return {.name = …}; } in src/import/<folder>/format.cc; the build collects them into
// libtern.
#define TERN_FORMAT(Name) Format TernFormat_##Name()

}  // namespace tern::load
