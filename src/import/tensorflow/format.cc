// Recognises TensorFlow's models, which are SavedModel folders and files with a graph.
#include <algorithm>

#include "base/strings.h"
#include "load/foreign.h"
#include "load/format.h"

namespace tern::load {
namespace {

constexpr size_t kStart = 16384;

// Removes blanks and comments from the front.
std::string_view SkipBlanks(std::string_view text) {
  while (!text.empty()) {
    if (text[0] == '#')
      text.remove_prefix(std::min(text.find('\n'), text.size()));
    else if (text[0] == ' ' || (text[0] >= '\t' && text[0] <= '\r'))
      text.remove_prefix(1);
    else
      break;
  }
  return text;
}

bool TakeWord(std::string_view& text, std::string_view word) {
  text = SkipBlanks(text);
  if (!StartsWith(text, word)) return false;
  text = SkipBlanks(text.substr(word.size()));
  return true;
}

// A graph in text starts with a node, which has a name and an op.
bool IsGraphText(std::string_view bytes) {
  std::string_view text = bytes.substr(0, kStart);
  if (!TakeWord(text, "node")) return false;
  TakeWord(text, ":");
  return TakeWord(text, "{") && TakeWord(text, "name") && text.find("op:") != std::string_view::npos;
}

bool IsGraphFile(std::string_view bytes) { return IsGraphDef(bytes) || IsGraphText(bytes); }

bool IsSavedModelText(std::string_view bytes) {
  std::string_view text = bytes.substr(0, kStart);
  return TakeWord(text, "saved_model_schema_version") && TakeWord(text, ":");
}

}  // namespace

TERN_FORMAT(SavedModel) {
  return {.name = "SavedModel",
          .title = "a TensorFlow SavedModel",
          .recognise = IsSavedModel,
          .folder_file = "saved_model.pb",
          .library = "tensorflow",
          .uses_signature = true};
}

TERN_FORMAT(SavedModelText) {
  return {.name = "SavedModel as text",
          .title = "a TensorFlow SavedModel as text",
          .recognise = IsSavedModelText,
          .folder_file = "saved_model.pbtxt",
          .library = "tensorflow",
          .uses_signature = true};
}

TERN_FORMAT(GraphDef) {
  return {.name = "GraphDef",
          .title = "a TensorFlow graph",
          .extensions = {".pb", ".pbtxt"},
          .recognise = IsGraphFile,
          .library = "tensorflow"};
}

}  // namespace tern::load
