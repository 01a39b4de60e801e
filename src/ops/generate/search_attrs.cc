#include "ops/generate/search_attrs.h"

namespace tern {
namespace {

constexpr int kFirstPast = 3;  // after the inputs input_ids, position_ids and attention_mask
constexpr int kLengthAxis = 3;

}  // namespace

std::vector<SubgraphState> DecoderStates(const DecoderAttrs& a) {
  std::vector<SubgraphState> states;
  for (int i = 0; i < static_cast<int>(a.layers); ++i) states.push_back({kFirstPast + i, 1 + i, kLengthAxis});
  return states;
}

Status CheckDecoder(const DecoderAttrs& a) {
  if (a.layers < 0 || a.heads < 1 || a.head_size < 1)
    return InvalidModel("a decoder cannot have ", a.layers, " layers and ", a.heads, " heads of size ",
                        a.head_size);
  if (a.no_repeat < 0) return InvalidModel("no_repeat is ", a.no_repeat, ", but must not be negative");
  if (a.index_type != DType::kI32 && a.index_type != DType::kI64)
    return InvalidModel("index_type is ", DTypeName(a.index_type), ", but must be i32 or i64");
  if (!IsFloat(a.past_type) || BitWidth(a.past_type) < 8)
    return InvalidModel("past_type is ", DTypeName(a.past_type),
                        ", but must be a float type of 8 bits or more");
  return {};
}

Status InferDecoder(const DecoderAttrs& a, InferContext& c) {
  TERN_TRY(CheckDecoder(a));
  const Shape& ids = c.ShapeOf("input_ids");
  if (ids.ranked && ids.rank() != 2)
    return InvalidModel("input 'input_ids' must be [batch, length], got ", c.In("input_ids").ToString());
  // These sizes change between steps, but all inputs of one step have the same sizes, so each size is a
  // symbol. The names contain blanks, so that they differ from the symbols of a model.
  const Dim rows = Dim::Symbol("decoder rows"), tokens = Dim::Symbol("decoder tokens"),
            past = Dim::Symbol("decoder past");
  const Type ids_type = Type::TensorOf(a.index_type, Shape({rows, tokens}));
  const Type mask_type = Type::TensorOf(a.index_type, Shape({rows, past + tokens}));
  std::vector<Type> inputs = {ids_type, ids_type, mask_type};
  for (int64_t i = 0; i < a.layers; ++i)
    inputs.push_back(Type::TensorOf(a.past_type, Shape({2, rows, a.heads, past, a.head_size})));
  TERN_ASSIGN(const auto outputs, c.InferSubgraph(0, inputs));
  if (static_cast<int64_t>(outputs.size()) < 1 + a.layers)
    return InvalidModel("the decoder gives ", outputs.size(), " outputs, but needs ", 1 + a.layers);
  return {};
}

}  // namespace tern
