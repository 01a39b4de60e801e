// Exports ops on strings and n-grams.
#include "export/onnx/ops/attr_values.h"

namespace tern::onnx {
namespace {

Status StringSplit(TernNode& n) {
  AttrList attrs = {{"delimiter", n.attrs().Text("delimiter")}};
  if (n.attrs().Int("max_splits") >= 0) attrs.emplace_back("maxsplit", n.attrs().Int("max_splits"));
  std::vector<std::string> outputs = n.Outs();
  if (outputs.size() < 2) outputs.push_back(n.Temp());  // ONNX requires both outputs
  n.Emit("StringSplit", n.Ins(), outputs, attrs);
  return {};
}

Status StringNormalizer(TernNode& n) {
  n.Emit("StringNormalizer", n.Ins(), n.Outs(),
         WithoutEmpty({{"case_change_action", Upper(n.attrs().Text("change"))},
                       {"is_case_sensitive", n.attrs().Bool("case_sensitive")},
                       {"stopwords", Texts(n, "stop_words")}}));
  return {};
}

Status Tokenizer(TernNode& n) {
  const Attrs& a = n.attrs();
  AttrList attrs = {{"pad_value", a.Text("pad")},
                    {"mark", static_cast<int64_t>(a.Bool("mark"))},
                    {"mincharnum", a.Int("min_length")}};
  if (const auto separators = Texts(n, "separators"); !separators.empty())
    attrs.emplace_back("separators", separators);
  else
    attrs.emplace_back("tokenexp", a.Text("token"));
  n.Emit("Tokenizer", n.Ins(), n.Outs(), attrs, kContrib);
  return {};
}

Status TfIdf(TernNode& n) {
  const Attrs& a = n.attrs();
  n.Emit("TfIdfVectorizer", n.Ins(), n.Outs(),
         WithoutEmpty({{"mode", Upper(a.Text("mode"))},
                       {"min_gram_length", a.Int("min_length")},
                       {"max_gram_length", a.Int("max_length")},
                       {"max_skip_count", a.Int("max_skip")},
                       {"ngram_counts", a.Ints("starts")},
                       {"ngram_indexes", a.Ints("places")},
                       {"pool_int64s", a.Ints("pool_ints")},
                       {"pool_strings", Texts(n, "pool_texts")},
                       {"weights", Doubles(n, "weights")}}));
  return {};
}

}  // namespace

TERN_EXPORTERS(text) {
  table.Add("StringConcat", DirectTo("StringConcat"));
  table.Add("StringSplit", StringSplit);
  table.Add("StringNormalizer", StringNormalizer);
  table.Add("RegexFullMatch", DirectTo("RegexFullMatch", {"pattern"}));
  table.Add("TfIdfVectorizer", TfIdf);
  table.Add("Tokenizer", Tokenizer);
  table.Add("MurmurHash3", DirectTo("MurmurHash3", {"seed", "positive"}, {}, kContrib));
}

}  // namespace tern::onnx
