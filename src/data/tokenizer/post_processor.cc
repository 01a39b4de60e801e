#include "data/tokenizer/post_processor.h"

#include <algorithm>
#include <unordered_map>

#include "data/tokenizer/code_points.h"
#include "data/tokenizer/encoding.h"
#include "data/tokenizer/unicode.h"

namespace tern::data {
namespace {

constexpr char32_t kSpaceCharacter = 0x120;  // what byte-level tokenizers write for a space

struct Special {
  std::string token;
  int64_t id;
};

// Removes leading and trailing white space from the offsets. The first token keeps the space that was added
// to the text.
void TrimOffsets(Encoding& e, bool add_prefix_space) {
  const CodePointTable& classes = CharClasses();
  const auto is_space = [&](char32_t c) { return c == kSpaceCharacter || (classes[c] & kSpace); };
  for (size_t k = 0; k < e.size(); ++k) {
    const std::string& token = e.tokens[k];
    size_t leading = 0, trailing = 0;
    for (size_t i = 0; i < token.size() && is_space(NextCodePoint(token, i));) ++leading;
    for (size_t i = token.size(); i > 0 && is_space(PreviousCodePoint(token, i));) ++trailing;
    auto& [begin, end] = e.offsets[k];
    if (leading > 0) {
      const bool first = k == 0 || begin == 0;
      if (first && add_prefix_space && leading == 1) leading = 0;
      begin = std::min(begin + leading, end);
    }
    if (trailing > 0 && end >= trailing) end = std::max(end - trailing, begin);
  }
}

void SetTypeIds(Encoding& e, int64_t type_id) { std::fill(e.type_ids.begin(), e.type_ids.end(), type_id); }

// Puts special tokens around an encoding.
void Surround(Encoding& e, const Special* before, const Special& after, int64_t type_id) {
  if (before) {
    Encoding with;
    AppendSpecial(with, before->id, before->token, type_id);
    AppendEncoding(with, std::move(e));
    e = std::move(with);
  }
  AppendSpecial(e, after.id, after.token, type_id);
}

class BertProcessing : public PostProcessor {
 public:
  BertProcessing(Special cls, Special sep) : cls_(std::move(cls)), sep_(std::move(sep)) {}
  size_t added(bool pair) const override { return pair ? 3 : 2; }
  Status Apply(std::vector<Encoding>& parts, bool add_special_tokens) const override {
    for (size_t i = 0; i < parts.size() && add_special_tokens; ++i)
      Surround(parts[i], i == 0 ? &cls_ : nullptr, sep_, i == 0 ? 0 : 1);
    return {};
  }

 private:
  Special cls_, sep_;
};

class RobertaProcessing : public PostProcessor {
 public:
  RobertaProcessing(Special cls, Special sep, bool trim, bool prefix_space)
      : cls_(std::move(cls)), sep_(std::move(sep)), trim_(trim), prefix_space_(prefix_space) {}
  size_t added(bool pair) const override { return pair ? 4 : 2; }
  Status Apply(std::vector<Encoding>& parts, bool add_special_tokens) const override {
    for (size_t i = 0; i < parts.size(); ++i) {
      if (trim_) TrimOffsets(parts[i], prefix_space_);
      SetTypeIds(parts[i], 0);
      if (add_special_tokens) Surround(parts[i], i == 0 ? &cls_ : &sep_, sep_, 0);
    }
    return {};
  }

 private:
  Special cls_, sep_;
  bool trim_, prefix_space_;
};

class ByteLevelProcessing : public PostProcessor {
 public:
  ByteLevelProcessing(bool trim, bool prefix_space) : trim_(trim), prefix_space_(prefix_space) {}
  size_t added(bool) const override { return 0; }
  Status Apply(std::vector<Encoding>& parts, bool) const override {
    for (Encoding& part : parts)
      if (trim_) TrimOffsets(part, prefix_space_);
    return {};
  }

 private:
  bool trim_, prefix_space_;
};

// An item of a template: one of the texts, or special tokens.
struct Item {
  int sequence = -1;  // 0 or 1, or -1 for special tokens
  std::vector<Special> tokens;
  int64_t type_id = 0;
};

class TemplateProcessing : public PostProcessor {
 public:
  TemplateProcessing(std::vector<Item> single, std::vector<Item> pair)
      : single_(std::move(single)), pair_(std::move(pair)) {}
  size_t added(bool pair) const override {
    size_t n = 0;
    for (const Item& item : pair ? pair_ : single_) n += item.tokens.size();
    return n;
  }
  Status Apply(std::vector<Encoding>& parts, bool add_special_tokens) const override {
    if (parts.empty() || parts.size() > 2)
      return Unsupported("a TemplateProcessing after one that has already been applied");
    const std::vector<Item>& items = parts.size() == 2 ? pair_ : single_;
    std::vector<Encoding> out;
    size_t total = 0;
    std::vector<size_t> last_use(2, items.size());
    for (size_t i = 0; i < items.size(); ++i)
      if (items[i].sequence >= 0) last_use[static_cast<size_t>(items[i].sequence)] = i;
    for (size_t i = 0; i < items.size(); ++i) {
      const Item& item = items[i];
      Encoding part;
      if (item.sequence >= 0) {
        Encoding& source = parts[static_cast<size_t>(item.sequence)];
        total += source.size();
        if (total > kMaxTokens) return ResourceExhausted("the template repeats the text too often");
        part = last_use[static_cast<size_t>(item.sequence)] == i ? std::move(source) : source;
        SetTypeIds(part, item.type_id);
      } else if (add_special_tokens) {
        for (const Special& s : item.tokens) AppendSpecial(part, s.id, s.token, item.type_id);
      }
      out.push_back(std::move(part));
    }
    parts = std::move(out);
    return {};
  }

 private:
  std::vector<Item> single_, pair_;
};

class Sequence : public PostProcessor {
 public:
  explicit Sequence(std::vector<std::unique_ptr<PostProcessor>> steps) : steps_(std::move(steps)) {}
  size_t added(bool pair) const override {
    size_t n = 0;
    for (const auto& step : steps_) n += step->added(pair);
    return n;
  }
  Status Apply(std::vector<Encoding>& parts, bool add_special_tokens) const override {
    for (const auto& step : steps_) TERN_TRY(step->Apply(parts, add_special_tokens));
    return {};
  }

 private:
  std::vector<std::unique_ptr<PostProcessor>> steps_;
};

using Made = Result<std::unique_ptr<PostProcessor>>;
template <class T, class... A> Made Make(A&&... a) {
  return std::unique_ptr<PostProcessor>(std::make_unique<T>(std::forward<A>(a)...));
}

// ["[SEP]", 102]
Result<Special> ParseSpecial(const JsonNode& node, std::string_view name) {
  TERN_ASSIGN(const JsonNode field, node.Field(name));
  TERN_ASSIGN(const auto items, field.Items());
  if (items.size() != 2) return field.Invalid("must be a token and its id");
  TERN_ASSIGN(std::string token, items[0].String());
  TERN_ASSIGN(const uint64_t id, items[1].Unsigned(UINT32_MAX));
  return Special{std::move(token), static_cast<int64_t>(id)};
}

Made ParseBert(const JsonNode& node, bool roberta) {
  TERN_ASSIGN(Special sep, ParseSpecial(node, "sep"));
  TERN_ASSIGN(Special cls, ParseSpecial(node, "cls"));
  if (!roberta) return Make<BertProcessing>(std::move(cls), std::move(sep));
  TERN_ASSIGN(const bool trim, node.BoolField("trim_offsets"));
  TERN_ASSIGN(const bool prefix_space, node.BoolField("add_prefix_space"));
  return Make<RobertaProcessing>(std::move(cls), std::move(sep), trim, prefix_space);
}

Made ParseByteLevel(const JsonNode& node) {
  TERN_ASSIGN(const bool trim, node.BoolField("trim_offsets"));
  TERN_ASSIGN(const bool prefix_space, node.BoolField("add_prefix_space"));
  return Make<ByteLevelProcessing>(trim, prefix_space);
}

using SpecialTokens = std::unordered_map<std::string, std::vector<Special>>;

Result<SpecialTokens> ParseSpecialTokens(const JsonNode& node) {
  SpecialTokens out;
  simdjson::dom::object object;
  if (node.element().get(object)) return node.Invalid("must be an object");
  for (const auto& [key, value] : object) {
    const JsonNode entry(value, StrCat(node.path(), ".", key));
    TERN_ASSIGN(const JsonNode ids_field, entry.Field("ids"));
    TERN_ASSIGN(const JsonNode tokens_field, entry.Field("tokens"));
    TERN_ASSIGN(const auto ids, ids_field.Items());
    TERN_ASSIGN(const auto tokens, tokens_field.Items());
    if (ids.size() != tokens.size())
      return entry.Invalid(StrCat("has ", ids.size(), " ids but ", tokens.size(), " tokens"));
    std::vector<Special>& list = out[std::string(key)];
    list.clear();
    for (size_t i = 0; i < ids.size(); ++i) {
      TERN_ASSIGN(const uint64_t id, ids[i].Unsigned(UINT32_MAX));
      TERN_ASSIGN(std::string token, tokens[i].String());
      list.push_back({std::move(token), static_cast<int64_t>(id)});
    }
  }
  return out;
}

Result<Item> ParseItem(const JsonNode& node, const SpecialTokens& special, bool pair) {
  Item item;
  const auto sequence = node.Find("Sequence");
  TERN_ASSIGN(const JsonNode body, sequence ? *sequence : node.Field("SpecialToken"));
  TERN_ASSIGN(const std::string id, body.StringField("id"));
  TERN_ASSIGN(item.type_id, body.UnsignedField("type_id", UINT32_MAX));
  if (sequence) {
    if (id != "A" && id != "B") return body.Invalid(StrCat("unknown sequence '", id, "'"));
    item.sequence = id == "A" ? 0 : 1;
    if (item.sequence == 1 && !pair) return body.Invalid("the template for one text uses the second one");
    return item;
  }
  const auto it = special.find(id);
  if (it == special.end()) return body.Invalid(StrCat("special_tokens has no '", id, "'"));
  item.tokens = it->second;
  return item;
}

Result<std::vector<Item>> ParseItems(const JsonNode& node, const SpecialTokens& special, bool pair) {
  TERN_ASSIGN(const JsonNode field, node.Field(pair ? "pair" : "single"));
  TERN_ASSIGN(const auto nodes, field.Items());
  std::vector<Item> items;
  size_t tokens = 0;
  for (const JsonNode& n : nodes) {
    TERN_ASSIGN(Item item, ParseItem(n, special, pair));
    tokens += item.tokens.size();
    if (tokens > 1 << 20) return field.Invalid("has more than 2^20 special tokens");
    items.push_back(std::move(item));
  }
  return items;
}

Made ParseTemplate(const JsonNode& node) {
  TERN_ASSIGN(const JsonNode field, node.Field("special_tokens"));
  TERN_ASSIGN(const SpecialTokens special, ParseSpecialTokens(field));
  TERN_ASSIGN(std::vector<Item> single, ParseItems(node, special, false));
  TERN_ASSIGN(std::vector<Item> pair, ParseItems(node, special, true));
  return Make<TemplateProcessing>(std::move(single), std::move(pair));
}

Made ParseSequence(const JsonNode& node, int depth) {
  TERN_ASSIGN(const JsonNode field, node.Field("processors"));
  TERN_ASSIGN(const auto items, field.Items());
  std::vector<std::unique_ptr<PostProcessor>> steps;
  for (const JsonNode& item : items) {
    TERN_ASSIGN(auto step, ParsePostProcessor(item, depth + 1));
    steps.push_back(std::move(step));
  }
  return Make<Sequence>(std::move(steps));
}

}  // namespace

Made ParsePostProcessor(const JsonNode& node, int depth) {
  if (depth > kMaxNesting) return node.Invalid("the sequences are nested too deeply");
  TERN_ASSIGN(const std::string type, node.StringField("type"));
  if (type == "BertProcessing") return ParseBert(node, false);
  if (type == "RobertaProcessing") return ParseBert(node, true);
  if (type == "ByteLevel") return ParseByteLevel(node);
  if (type == "TemplateProcessing") return ParseTemplate(node);
  if (type == "Sequence") return ParseSequence(node, depth);
  return Unsupported(node.path(), ": the post-processor '", type, "' is not supported");
}

}  // namespace tern::data
