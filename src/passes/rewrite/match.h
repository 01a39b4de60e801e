// One match of a pattern in a graph, as a rule's `when` and `compute` see it.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "passes/rewrite/pattern.h"

namespace tern {

class Match {
 public:
  explicit Match(const Pattern& pattern);

  // These functions look up a variable of the pattern by its name. They CHECK that the pattern has the
  // variable.
  Value* At(std::string_view name) const;  // null for an optional input that is absent
  bool Has(std::string_view name) const { return At(name) != nullptr; }
  const Type& TypeOf(std::string_view name) const { return At(name)->type; }
  const Shape& ShapeOf(std::string_view name) const { return At(name)->type.shape; }
  int Rank(std::string_view name) const { return ShapeOf(name).rank(); }  // -1 if the rank is unknown
  DType DTypeOf(std::string_view name) const { return At(name)->type.dtype; }
  const Tensor& operator[](std::string_view name) const;  // the elements of a constant
  // Returns the producer of the value. The pattern must contain the producer.
  const Node& NodeOf(std::string_view name) const { return *At(name)->producer; }

  const AttrValue& Attr(std::string_view name) const;
  double Number(std::string_view name) const;  // an attribute that is a number
  int64_t Int(std::string_view name) const;
  std::string Text(std::string_view name) const;
  std::vector<int64_t> Ints(std::string_view name) const;
  const Attrs& AttrsOf(std::string_view set) const;  // the attributes that {@set} matched

  // `compute` calls these functions to define the constants and attributes that the replacement names.
  void Set(std::string name, Tensor constant);
  void SetAttr(std::string name, AttrValue value);

  // `when` returns Skip("reason") to refuse the match. Skip returns false and stores the reason for
  // --why-not.
  template <class... A> bool Skip(const A&... reason) const {
    if (why_) *why_ = StrCat(reason...);
    return false;
  }

  const Node& root() const { return *nodes_.back(); }
  const std::vector<Node*>& nodes() const { return nodes_; }

 private:
  friend class Matcher;
  friend class Emitter;
  const Pattern* pattern_;
  std::vector<Value*> values_;         // in the order of Pattern::values
  std::vector<bool> bound_;            // true if the element of values_ is set
  std::vector<AttrValue> attributes_;  // in the order of Pattern::attributes
  std::vector<bool> attribute_bound_;
  std::vector<Attrs> attr_sets_;
  std::vector<Node*> nodes_;  // in the order of Pattern::nodes
  std::vector<std::pair<std::string, Tensor>> made_;
  std::vector<std::pair<std::string, AttrValue>> made_attrs_;
  std::string* why_ = nullptr;
};

// A cheap check before MatchAt. Returns false if the root or one of its operands cannot match.
bool MayMatch(const Node& root, const Pattern& pattern);

// Says why a pattern does not match. Of several attempts, the one that matched the most nodes provides the
// reason.
struct MatchFailure {
  int depth = -1;  // the number of nodes that matched, plus 100 if all matched
  std::string reason;
};
// Matches the pattern with its root at `root`. Passes each match to `accept` until `accept` returns true.
// Returns false if no match is accepted. Updates `failure`, when not null, if the depth of an attempt exceeds
// failure->depth.
bool MatchAt(Node& root, Match& match, const std::function<bool(const Match&)>& accept,
             MatchFailure* failure);

}  // namespace tern
