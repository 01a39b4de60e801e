#include "data/tokenizer/parse_model.h"

namespace tern::data {
namespace {

using Made = Result<std::unique_ptr<Model>>;

// An object of tokens and ids.
Result<Vocabulary> ParseVocabulary(const JsonNode& node) {
  TERN_ASSIGN(const JsonNode field, node.Field("vocab"));
  simdjson::dom::object object;
  if (field.element().get(object)) return field.Invalid("must be an object");
  Vocabulary vocabulary;
  for (const auto& [token, value] : object) {
    uint64_t id = 0;
    if (value.get(id) || id >= UINT32_MAX)
      return field.Invalid(StrCat("the id of '", token, "' is not a number below 2^32 - 1"));
    TERN_TRY(vocabulary.Add(token, static_cast<uint32_t>(id)));
  }
  return vocabulary;
}

Made ParseWordPiece(const JsonNode& node) {
  WordPieceOptions options;
  TERN_ASSIGN(options.unknown, node.StringField("unk_token"));
  TERN_ASSIGN(options.prefix, node.StringField("continuing_subword_prefix"));
  TERN_ASSIGN(options.max_characters, node.UnsignedField("max_input_chars_per_word", INT64_MAX));
  TERN_ASSIGN(Vocabulary vocabulary, ParseVocabulary(node));
  return MakeWordPiece(std::move(vocabulary), std::move(options));
}

Made ParseWordLevel(const JsonNode& node) {
  TERN_ASSIGN(std::string unknown, node.StringField("unk_token"));
  TERN_ASSIGN(Vocabulary vocabulary, ParseVocabulary(node));
  return MakeWordLevel(std::move(vocabulary), std::move(unknown));
}

// "left right", or ["left", "right"].
Result<Merge> ParseMerge(simdjson::dom::element element, const JsonNode& list, size_t rank) {
  const auto bad = [&] { return list.Invalid(StrCat("merge ", rank, " is not a pair of tokens")); };
  std::string_view left, right;
  if (!element.get(left)) {
    const size_t space = left.find(' ');
    if (space == left.npos || left.find(' ', space + 1) != left.npos) return bad();
    right = left.substr(space + 1);
    left = left.substr(0, space);
  } else {
    simdjson::dom::array pair;
    if (element.get(pair) || pair.size() != 2 || pair.at(0).get(left) || pair.at(1).get(right)) return bad();
  }
  return Merge{std::string(left), std::string(right)};
}

Result<std::vector<Merge>> ParseMerges(const JsonNode& node) {
  TERN_ASSIGN(const JsonNode field, node.Field("merges"));
  simdjson::dom::array array;
  if (field.element().get(array)) return field.Invalid("must be an array");
  std::vector<Merge> merges;
  for (const simdjson::dom::element element : array) {
    std::string_view line;
    if (!element.get(line) && line.starts_with("#version")) continue;
    TERN_ASSIGN(Merge merge, ParseMerge(element, field, merges.size()));
    merges.push_back(std::move(merge));
  }
  return merges;
}

Made ParseBpe(const JsonNode& node) {
  BpeOptions options;
  if (const auto dropout = node.Find("dropout")) {
    TERN_ASSIGN(const double value, dropout->Number());
    if (value != 0)
      return Unsupported(dropout->path(), " is ", value,
                         ", but dropout makes the ids random; set it to null");
  }
  if (const auto unknown = node.Find("unk_token")) {
    TERN_ASSIGN(options.unknown, unknown->String());
  }
  TERN_ASSIGN(options.prefix, node.StringField("continuing_subword_prefix", ""));
  TERN_ASSIGN(options.suffix, node.StringField("end_of_word_suffix", ""));
  TERN_ASSIGN(options.fuse_unknown, node.BoolField("fuse_unk", false));
  TERN_ASSIGN(options.byte_fallback, node.BoolField("byte_fallback", false));
  TERN_ASSIGN(options.ignore_merges, node.BoolField("ignore_merges", false));
  TERN_ASSIGN(Vocabulary vocabulary, ParseVocabulary(node));
  TERN_ASSIGN(const std::vector<Merge> merges, ParseMerges(node));
  return MakeBpe(std::move(vocabulary), merges, std::move(options));
}

// An array of [token, score]. The ids count from 0.
Made ParseUnigram(const JsonNode& node) {
  TERN_ASSIGN(const JsonNode field, node.Field("vocab"));
  simdjson::dom::array array;
  if (field.element().get(array)) return field.Invalid("must be an array");
  Vocabulary vocabulary;
  std::vector<double> scores;
  for (const simdjson::dom::element element : array) {
    simdjson::dom::array pair;
    std::string_view token;
    double score = 0;
    if (element.get(pair) || pair.size() != 2 || pair.at(0).get(token) || pair.at(1).get(score))
      return field.Invalid(StrCat("entry ", scores.size(), " is not a token and its score"));
    TERN_TRY(vocabulary.Add(token, static_cast<uint32_t>(scores.size())));
    scores.push_back(score);
  }
  UnigramOptions options;
  if (const auto unknown = node.Find("unk_id")) {
    TERN_ASSIGN(const uint64_t id, unknown->Unsigned(UINT32_MAX - 1));
    options.unknown = static_cast<uint32_t>(id);
  }
  TERN_ASSIGN(options.byte_fallback, node.BoolField("byte_fallback", false));
  return MakeUnigram(std::move(vocabulary), std::move(scores), options);
}

// Old files do not name the type of the model.
std::string GuessType(const JsonNode& node) {
  if (node.Find("merges")) return "BPE";
  if (node.Find("max_input_chars_per_word")) return "WordPiece";
  const auto vocabulary = node.Find("vocab");
  return vocabulary && !vocabulary->is_object() ? "Unigram" : "WordLevel";
}

}  // namespace

Made ParseModel(const JsonNode& node) {
  if (!node.is_object()) return node.Invalid("must be an object");
  TERN_ASSIGN(const std::string type, node.StringField("type", GuessType(node)));
  if (type == "WordPiece") return ParseWordPiece(node);
  if (type == "WordLevel") return ParseWordLevel(node);
  if (type == "BPE") return ParseBpe(node);
  if (type == "Unigram") return ParseUnigram(node);
  return Unsupported(node.path(), ": the model '", type, "' is not supported");
}

}  // namespace tern::data
