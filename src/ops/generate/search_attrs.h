// The attributes of GreedySearch and BeamSearch, which run a GPT-2 decoder once per token. src/generate runs
// the searches.
#pragma once
#include "ir/infer_context.h"
#include "ir/stateful_subgraph.h"

namespace tern {

// The decoder's inputs are input_ids, position_ids and attention_mask [rows, length], then a past per layer
// [2, rows, heads, length, size]. Its outputs are logits [rows, length, vocabulary] and the extended pasts.
struct DecoderAttrs {
  int64_t eos = -1, pad = 0, no_repeat = 0, words = -1, layers = 0, heads = 0, head_size = 0;
  DType index_type = DType::kI32, past_type = DType::kF32;
  template <class V> void Visit(V& v) {
    v("eos", eos, "the token that ends a sequence; negative means that there is no such token");
    v("pad", pad, "the token that pads finished sequences at the end and short prompts at the start");
    v("no_repeat", no_repeat, "n-grams of this length may not repeat; 0 means no limit");
    v("words", words, "size of the vocabulary; negative means the number of logits");
    v("layers", layers, "number of layers, each with a past");
    v("heads", heads, "number of heads of a past");
    v("head_size", head_size, "size of a head of a past");
    v("index_type", index_type, "type of the decoder's tokens, positions and mask");
    v("past_type", past_type, "type of the pasts");
  }
};

struct BeamSearchAttrs : DecoderAttrs {
  bool early_stopping = false;
  template <class V> void Visit(V& v) {
    DecoderAttrs::Visit(v);
    v("early_stopping", early_stopping,
      "a prompt is finished as soon as it has num_beams finished sequences");
  }
};

struct GreedySearchAttrs : DecoderAttrs {};

Status CheckDecoder(const DecoderAttrs& attrs);
// Returns the decoder's states, one per layer. The past of a layer is the present that the previous run
// returned.
std::vector<SubgraphState> DecoderStates(const DecoderAttrs& attrs);
inline constexpr int kRowAxis = 1;  // the axis `rows` of a past [2, rows, heads, length, size]
// Infers the types of the decoder's graph for symbolic numbers of rows, tokens and past tokens. Fails if an
// attribute is invalid (CheckDecoder) or the decoder has too few outputs.
Status InferDecoder(const DecoderAttrs& attrs, InferContext& c);

}  // namespace tern
