// Encodes text with small tokenizers of each kind. The first byte selects the tokenizer.
#include <array>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "data/tokenizer/tokenizer.h"
#include "entry.h"

using namespace tern;

namespace {

constexpr const char* kFiles[] = {
    R"({"normalizer":{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true},
        "pre_tokenizer":{"type":"BertPreTokenizer"},
        "post_processor":{"type":"BertProcessing","sep":["[SEP]",2],"cls":["[CLS]",1]},
        "decoder":{"type":"WordPiece","prefix":"##","cleanup":true},
        "added_tokens":[{"id":1,"content":"[CLS]","single_word":false,"lstrip":true,"rstrip":true,"normalized":true,"special":true}],
        "model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":100,
                 "vocab":{"[UNK]":0,"[CLS]":1,"[SEP]":2,"a":3,"##a":4,"e":5,"##\u00e9":6}}})",
    R"({"normalizer":{"type":"Sequence","normalizers":[{"type":"NFKC"},{"type":"NFD"},{"type":"Replace","pattern":{"Regex":"\\s+|a*"},"content":" \u00e9"},{"type":"Strip","strip_left":true,"strip_right":true}]},
        "pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"\\w+|[^\\S\\n]+"},"behavior":"MergedWithNext","invert":true},{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true,"use_regex":true}]},
        "post_processor":{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true},"decoder":{"type":"ByteLevel"},
        "model":{"type":"BPE","unk_token":"u","fuse_unk":true,"vocab":{"u":0,"a":1,"b":2,"ab":3,"\u0120":4,"\u0120a":5,"\u00c3":6,"\u00a9":7,"\u00c3\u00a9":8},
                 "merges":["a b","\u0120 a",["\u00c3","\u00a9"]]}})",
    R"({"normalizer":{"type":"Sequence","normalizers":[{"type":"Nmt"},{"type":"NFKC"},{"type":"Prepend","prepend":"\u2581"}]},
        "pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"UnicodeScripts"},{"type":"Metaspace","replacement":"\u2581","prepend_scheme":"first","split":true},{"type":"Digits","individual_digits":false},{"type":"Punctuation","behavior":"Contiguous"}]},
        "decoder":{"type":"Sequence","decoders":[{"type":"ByteFallback"},{"type":"Metaspace","replacement":"\u2581","prepend_scheme":"first"},{"type":"CTC","pad_token":"a","word_delimiter_token":"b","cleanup":true}]},
        "truncation":{"direction":"Left","max_length":20,"strategy":"LongestFirst","stride":0},
        "padding":{"strategy":{"Fixed":10},"direction":"Left","pad_to_multiple_of":3,"pad_id":0,"pad_type_id":0,"pad_token":"x"},
        "model":{"type":"Unigram","unk_id":0,"byte_fallback":true,"vocab":[["<unk>",0],["\u2581",-2],["a",-1],["b",-1.5],["ab",-3],["\u2581a",-2.5],["<0xC3>",-9],["\u00e9\u6f22",-1]]}})",
};

const data::Tokenizer& Get(size_t index) {
  static const auto tokenizers = [] {
    std::array<std::shared_ptr<const data::Tokenizer>, std::size(kFiles)> out;
    for (size_t i = 0; i < out.size(); ++i) {
      auto parsed = data::Tokenizer::Parse(kFiles[i]);
      if (!parsed.ok()) std::abort();
      out[i] = *parsed;
    }
    return out;
  }();
  return *tokenizers[index];
}

}  // namespace

int TERN_FUZZ_ENTRY(const uint8_t* bytes, size_t size) {
  if (size == 0) return 0;
  const data::Tokenizer& tokenizer = Get(bytes[0] % std::size(kFiles));
  const std::string_view text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  const auto encoding = tokenizer.Encode(text);
  if (!encoding.ok()) {
    if (encoding.status().code() == Code::kInternal) std::abort();
    return 0;
  }
  for (const auto& [begin, end] : encoding->offsets)
    if (begin > end || end > text.size()) std::abort();
  const auto decoded = tokenizer.Decode(encoding->ids);
  if (!decoded.ok()) std::abort();
  return 0;
}
