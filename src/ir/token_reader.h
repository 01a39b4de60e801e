// Reads types, constants, attributes and other parts of the text form from a list of tokens. Errors name
// line and column.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ir/builder.h"
#include "ir/lexer.h"

namespace tern {

class TokenReader {
 public:
  // `tokens` is the result of Tokenize(source). The source must outlive the reader.
  TokenReader(std::string_view source, std::vector<Token> tokens)
      : source_(source), tokens_(std::move(tokens)) {}

 protected:
  const Token& Now() const { return tokens_[at_]; }
  bool Is(std::string_view text) const {
    return (Now().kind == Token::Kind::kSign || Now().kind == Token::Kind::kWord) && Now().text == text;
  }
  bool Eat(std::string_view text) {
    if (!Is(text)) return false;
    ++at_;
    return true;
  }
  Status Unexpected(std::string_view wanted) const;
  Status Expect(std::string_view text);
  Result<std::string> ExpectText();
  Result<Token> ExpectValue();
  Result<Type> ReadType();
  // Reads the elements of a constant, which are a list in parentheses. Fails if the list does not have as
  // many elements as the type.
  Result<Tensor> Elements(const Type& type);
  // Reads {name=value, …}. Reads nothing if the next token is not `{`.
  Status Attributes(AttrList& attrs);

  std::string_view source_;
  std::vector<Token> tokens_;
  size_t at_ = 0;

 private:
  Status StoreElement(Tensor& t, int64_t i, const Token& item);
  Result<std::string> NumberText(std::string_view wanted);
  Result<AttrValue> AttrFromText();
  Result<AttrValue> AttrListFromText();
};

}  // namespace tern
