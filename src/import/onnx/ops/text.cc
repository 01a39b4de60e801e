// Converts operators on strings and n-grams.
#include "import/onnx/converter.h"

namespace tern::onnx {
namespace {

Status StringNormalizer(OnnxNode& n) {
  n.Out(0, n.b.Op("StringNormalizer", {n.In(0)},
                  {{"change", LowerCase(n.Text("case_change_action", "NONE"))},
                   {"case_sensitive", n.Int("is_case_sensitive") != 0},
                   {"stop_words", n.Texts("stopwords")}}));
  return {};
}

Status Tokenizer(OnnxNode& n) {
  for (const char* name : {"mark", "mincharnum", "pad_value"})
    if (!n.HasAttr(name)) return n.Bad("attribute '", name, "' is missing");
  n.Out(0, n.b.Op("Tokenizer", {n.In(0)},
                  {{"token", n.Text("tokenexp", "")},
                   {"separators", n.Texts("separators")},
                   {"pad", n.Text("pad_value")},
                   {"mark", n.Int("mark") != 0},
                   {"min_length", n.Int("mincharnum")}}));
  return {};
}

Status TfIdf(OnnxNode& n) {
  const auto weights = n.Floats("weights");
  for (const char* name :
       {"mode", "min_gram_length", "max_gram_length", "max_skip_count", "ngram_counts", "ngram_indexes"})
    if (!n.HasAttr(name)) return n.Bad("attribute '", name, "' is missing");
  n.Out(0, n.b.Op("TfIdfVectorizer", {n.In(0)},
                  {{"mode", LowerCase(n.Text("mode"))},
                   {"min_length", n.Int("min_gram_length")},
                   {"max_length", n.Int("max_gram_length")},
                   {"max_skip", n.Int("max_skip_count")},
                   {"starts", n.Ints("ngram_counts")},
                   {"places", n.Ints("ngram_indexes")},
                   {"pool_ints", n.Ints("pool_int64s")},
                   {"pool_texts", n.Texts("pool_strings")},
                   {"weights", std::vector<double>(weights.begin(), weights.end())}}));
  return {};
}

}  // namespace

TERN_CONVERTERS(text) {
  table.Add("StringConcat", Direct("StringConcat"));
  table.Add("StringSplit", Direct("StringSplit", {"delimiter", "maxsplit=max_splits"}));
  table.Add("StringNormalizer", StringNormalizer);
  table.Add("RegexFullMatch", Direct("RegexFullMatch", {"pattern"}));
  table.Add("TfIdfVectorizer", TfIdf);
  table.Add("Tokenizer", Tokenizer, kMicrosoft);
}

}  // namespace tern::onnx
