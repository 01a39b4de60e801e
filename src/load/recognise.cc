#include <algorithm>
#include <cctype>
#include <cstdint>

#include "base/strings.h"
#include "load/foreign.h"

namespace tern::load {
namespace {

bool Contains(std::string_view bytes, std::string_view part) {
  return bytes.find(part) != std::string_view::npos;
}

// Returns whether the bytes are a zip archive and `name` occurs in its headers. Searches the first 4 KiB,
// which contain the first local header, and the last MiB, which contains the central directory.
bool ZipContains(std::string_view bytes, std::string_view name) {
  if (!StartsWith(bytes, "PK\x03\x04")) return false;
  constexpr size_t kFirst = 4096, kLast = size_t{1} << 20;
  return Contains(bytes.substr(0, kFirst), name) ||
         Contains(bytes.substr(bytes.size() - std::min(bytes.size(), kLast)), name);
}

// If a protobuf message starts with a length-delimited field of this tag, removes the field from `bytes`,
// sets `field` to its contents and returns true. Otherwise returns false.
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

// Longer strings are not names. The limit bounds the number of bytes that are read.
constexpr size_t kMaxName = 4096;

bool IsName(std::string_view text) {
  return text.size() <= kMaxName && std::all_of(text.begin(), text.end(), [](char c) {
           return std::isprint(static_cast<unsigned char>(c)) != 0;
         });
}

// The same as TakeField, but returns false if the field is not a name.
bool TakeName(std::string_view& bytes, char tag, std::string_view& name) {
  return TakeField(bytes, tag, name) && IsName(name);
}

}  // namespace

bool IsTorchScript(std::string_view bytes) { return ZipContains(bytes, "/constants.pkl"); }
// An archive of torch.export of PyTorch 2.7 and older contains two checkpoints.
bool IsTorchCheckpoint(std::string_view bytes) {
  return ZipContains(bytes, "/data.pkl") && !IsTorchExport(bytes);
}
bool IsTorchExport(std::string_view bytes) {
  return ZipContains(bytes, "archive_format") || ZipContains(bytes, "serialized_exported_program.json");
}
bool IsKeras(std::string_view bytes) { return ZipContains(bytes, "model.weights.h5"); }
bool IsNumpyArchive(std::string_view bytes) { return ZipContains(bytes, ".npy"); }

// The directory ends with a record of 22 bytes and a comment of at most 65535 bytes.
bool IsCutZip(std::string_view bytes) {
  constexpr size_t kRecord = 22, kComment = 65535;
  if (!StartsWith(bytes, "PK\x03\x04")) return false;
  const std::string_view end = bytes.substr(bytes.size() - std::min(bytes.size(), kRecord + kComment));
  return end.size() < kRecord || end.substr(0, end.size() - kRecord + 4).rfind("PK\x05\x06") == end.npos;
}

// A SavedModel starts with the schema version and contains a graph with the tag "serve".
bool IsSavedModel(std::string_view bytes) {
  return StartsWith(bytes, "\x08\x01\x12") && Contains(bytes.substr(0, size_t{64} << 20), "\x22\x05serve");
}

// A MindSpore model starts with a version, which is a string (in ONNX it is a number). The producer's name
// follows.
bool IsMindSpore(std::string_view bytes) {
  std::string_view version, producer;
  return TakeName(bytes, '\x0a', version) && TakeName(bytes, '\x12', producer) && producer == "MindSpore";
}

// A GraphDef starts with a node. The node starts with its name and its op.
bool IsGraphDef(std::string_view bytes) {
  std::string_view node, name, op;
  return TakeField(bytes, '\x0a', node) && TakeName(node, '\x0a', name) && TakeName(node, '\x12', op) &&
         !op.empty();
}

// A safetensors file starts with a length in eight bytes, little-endian. JSON of this length follows.
bool IsSafetensors(std::string_view bytes) {
  if (bytes.size() < 10 || bytes[8] != '{' || (bytes[9] != '"' && bytes[9] != '}')) return false;
  uint64_t length = 0;
  for (size_t i = 8; i-- > 0;) length = length << 8 | static_cast<unsigned char>(bytes[i]);
  return length <= bytes.size() - 8;
}

bool IsPlainText(std::string_view bytes) {
  const std::string_view start = bytes.substr(0, 4096);
  const auto printable = [](char c) { return (c >= 0x20 && c < 0x7f) || (c >= '\t' && c <= '\r'); };
  return !start.empty() && start[0] > 0x20 && std::all_of(start.begin(), start.end(), printable);
}

}  // namespace tern::load
