// Recognises Caffe networks as text (.prototxt) and as protobuf messages (.caffemodel).
#include <cctype>
#include <cstdint>

#include "base/strings.h"
#include "load/format.h"

namespace tern::load {
namespace {

constexpr size_t kMaxSearched = size_t{1} << 20;  // how many bytes of a text are searched for a layer
constexpr size_t kMaxName = 4096;                 // a longer string is not a name

// Removes a varint from the front of `bytes`. Returns false if the varint is truncated or too long.
bool TakeVarint(std::string_view& bytes, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[0]);
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool IsName(std::string_view text) {
  if (text.size() > kMaxName) return false;
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x20) return false;
  return true;
}

// Returns whether a message may be a layer, judging by its first field. In LayerParameter, the field is a
// string. In V1LayerParameter, it is a string, a message or the number of the type.
bool IsLayer(std::string_view message, uint64_t field) {
  if (message.empty()) return false;
  const char tag = message[0];
  if (field == 100) return tag == '\x0a' || tag == '\x12' || tag == '\x1a' || tag == '\x22';
  return tag == '\x0a' || tag == '\x12' || tag == '\x1a' || tag == '\x22' || tag == '\x28';
}

enum Wire : uint64_t { kVarint = 0, kBytes = 2 };

// Returns whether NetParameter may contain this field.
bool Fits(uint64_t field, uint64_t wire) {
  switch (field) {
    case 1:  // name
    case 2:  // layers
    case 3:  // input
    case 6:  // state
    case 8:  // input_shape
    case 100:
      return wire == kBytes;
    case 4:  // input_dim, which may be packed
      return wire == kBytes || wire == kVarint;
    case 5:
    case 7:
      return wire == kVarint;
    default:
      return false;
  }
}

// Reads the fields of NetParameter until the first layer. Also accepts a truncated layer, so that the user
// gets the importer's error about the truncation.
bool IsNetwork(std::string_view bytes) {
  while (!bytes.empty()) {
    uint64_t tag = 0, size = 0;
    if (!TakeVarint(bytes, tag)) return false;
    const uint64_t field = tag >> 3, wire = tag & 7;
    if (!Fits(field, wire) || !TakeVarint(bytes, size)) return false;
    if (wire == kVarint) continue;
    const std::string_view contents = bytes.substr(0, size < bytes.size() ? size : bytes.size());
    if (field == 100 || field == 2) return IsLayer(contents, field);
    if ((field == 1 || field == 3) && !IsName(contents)) return false;
    if (size > bytes.size()) return false;
    bytes.remove_prefix(size);
  }
  return false;
}

// Removes blanks and comments from the front of a text.
void SkipBlanks(std::string_view& text) {
  while (!text.empty()) {
    if (text[0] == '#') {
      const size_t end = text.find('\n');
      text.remove_prefix(end == std::string_view::npos ? text.size() : end);
    } else if (std::isspace(static_cast<unsigned char>(text[0]))) {
      text.remove_prefix(1);
    } else {
      return;
    }
  }
}

std::string_view TakeWord(std::string_view& text) {
  size_t end = 0;
  while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_'))
    ++end;
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

bool IsFieldOfNet(std::string_view word) {
  for (const char* name : {"name", "input", "input_shape", "input_dim", "force_backward", "state",
                           "debug_info", "layer", "layers"})
    if (word == name) return true;
  return false;
}

// Returns whether "layer {" or "layers {" starts a line of the text, or follows other words.
bool HasLayer(std::string_view text) {
  for (size_t at = text.find("layer"); at != std::string_view::npos; at = text.find("layer", at + 1)) {
    if (at > 0 && !std::isspace(static_cast<unsigned char>(text[at - 1])) && text[at - 1] != '}') continue;
    std::string_view rest = text.substr(at);
    const std::string_view word = TakeWord(rest);
    if (word != "layer" && word != "layers") continue;
    SkipBlanks(rest);
    if (StartsWith(rest, ":")) rest.remove_prefix(1);
    SkipBlanks(rest);
    if (StartsWith(rest, "{")) return true;
  }
  return false;
}

bool IsNetworkText(std::string_view bytes) {
  if (StartsWith(bytes, "\xef\xbb\xbf")) bytes.remove_prefix(3);
  const std::string_view all = bytes.substr(0, kMaxSearched);
  std::string_view text = all;
  SkipBlanks(text);
  if (!IsFieldOfNet(TakeWord(text))) return false;
  SkipBlanks(text);
  return (StartsWith(text, ":") || StartsWith(text, "{")) && HasLayer(all);
}

bool IsCaffe(std::string_view bytes) { return IsNetworkText(bytes) || IsNetwork(bytes); }

}  // namespace

TERN_FORMAT(Caffe) {
  return {.name = "Caffe",
          .title = "a Caffe model",
          .extensions = {".prototxt", ".caffemodel"},
          .recognise = IsCaffe,
          .library = "caffe",
          .uses_weights = true};
}

}  // namespace tern::load
