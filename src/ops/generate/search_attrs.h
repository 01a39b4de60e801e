// What the searches that run a GPT-2 decoder word by word declare. src/generate executes them.
#pragma once
#include "ir/infer_context.h"

namespace tern {

// The decoder takes input_ids, position_ids and attention_mask [rows, length], then a past per layer
// [2, rows, heads, length, size]; it gives logits [rows, length, words] and the grown pasts.
struct DecoderAttrs {
  int64_t eos = -1, pad = 0, no_repeat = 0, words = -1, layers = 0, heads = 0, head_size = 0;
  DType index_type = DType::kI32, past_type = DType::kF32;
  template <class V> void Visit(V& v) {
    v("eos", eos, "the word that ends a sequence; below 0: none does");
    v("pad", pad, "the word that fills sequences up, and stands in front of short prompts");
    v("no_repeat", no_repeat, "no run of so many words may occur twice; 0: it may");
    v("words", words, "size of the vocabulary; below 0: as many as there are logits");
    v("layers", layers, "number of pasts");
    v("heads", heads, "of a past");
    v("head_size", head_size, "of a past");
    v("index_type", index_type, "type of the decoder's words, positions and mask");
    v("past_type", past_type, "type of the pasts");
  }
};

struct BeamSearchAttrs : DecoderAttrs {
  bool early_stopping = false;
  template <class V> void Visit(V& v) {
    DecoderAttrs::Visit(v);
    v("early_stopping", early_stopping, "a prompt is done as soon as it has enough finished sequences");
  }
};

struct GreedySearchAttrs : DecoderAttrs {};

Status CheckDecoder(const DecoderAttrs& attrs);
// Types through the decoder's graph, with open lengths.
Status InferDecoder(const DecoderAttrs& attrs, InferContext& c);

}  // namespace tern
