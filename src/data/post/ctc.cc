#include "data/post/ctc.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "data/post/floats.h"

namespace tern::data {
namespace {

constexpr int64_t kMaxBeam = 4096;
constexpr double kImpossible = -INFINITY;

// Returns log(exp(a) + exp(b)).
double LogAdd(double a, double b) {
  const double most = std::max(a, b);
  return most == kImpossible ? kImpossible : most + std::log1p(std::exp(std::min(a, b) - most));
}

Result<Tensor> Steps(const Tensor& log_probs, int64_t blank) {
  TERN_ASSIGN(const Tensor t, AsFloats(log_probs));
  const bool batch = t.rank() == 3 && t.dim(0) == 1;
  if (t.rank() != 2 && !batch)
    return InvalidArgument("CTC needs log probabilities [T,C], got ", log_probs.Describe());
  const Tensor steps = batch ? t.Reshaped({t.dim(1), t.dim(2)}) : t;
  if (blank < 0 || blank >= steps.dim(1))
    return InvalidArgument("the blank ", blank, " is not one of ", steps.dim(1), " classes");
  return steps;
}

// The prefixes of the beam share their beginnings in a tree. Node 0 is the empty prefix.
class PrefixTree {
 public:
  // Returns the child of a node, or 0 if there is none.
  size_t Find(size_t node, int64_t token) const {
    const auto place = children_.find({node, token});
    return place == children_.end() ? 0 : place->second;
  }
  size_t Add(size_t node, int64_t token) {
    children_[{node, token}] = nodes_.size();
    nodes_.push_back({node, token});
    return nodes_.size() - 1;
  }
  int64_t last(size_t node) const { return nodes_[node].token; }
  std::vector<int64_t> Tokens(size_t node) const {
    std::vector<int64_t> tokens;
    for (; node != 0; node = nodes_[node].parent) tokens.push_back(nodes_[node].token);
    std::reverse(tokens.begin(), tokens.end());
    return tokens;
  }

 private:
  struct Node {
    size_t parent;
    int64_t token;
  };
  std::vector<Node> nodes_ = {{0, -1}};
  std::map<std::pair<size_t, int64_t>, size_t> children_;
};

// The log probabilities of the paths of a prefix that end in the blank, and that end in its last token.
struct Paths {
  double blank = kImpossible, token = kImpossible;
  double total() const { return LogAdd(blank, token); }
};
using Beam = std::map<size_t, Paths>;

// A prefix of the next beam: a node of the tree, or a node and one more token that has no node yet. Only
// prefixes that survive get a node.
struct Candidate {
  size_t node;
  int64_t token;
  auto operator<=>(const Candidate&) const = default;
};
constexpr int64_t kNoToken = -1;
using Candidates = std::map<Candidate, Paths>;

void AddStep(const float* p, int64_t classes, int64_t blank, const Beam& beam, const PrefixTree& tree,
             Candidates& next) {
  for (const auto& [node, paths] : beam) {
    const double total = paths.total();
    for (int64_t c = 0; c < classes; ++c) {
      if (std::isnan(p[c]) || p[c] == kImpossible) continue;
      if (c == blank) {
        Paths& same = next[{node, kNoToken}];
        same.blank = LogAdd(same.blank, total + p[c]);
        continue;
      }
      const bool repeats = node != 0 && tree.last(node) == c;
      if (repeats) {  // without a blank between them, repeats merge
        Paths& same = next[{node, kNoToken}];
        same.token = LogAdd(same.token, paths.token + p[c]);
      }
      const double from = repeats ? paths.blank : total;
      if (from == kImpossible) continue;
      const size_t child = tree.Find(node, c);
      Paths& longer = next[child ? Candidate{child, kNoToken} : Candidate{node, c}];
      longer.token = LogAdd(longer.token, from + p[c]);
    }
  }
}

Beam KeepBest(const Candidates& candidates, int64_t size, PrefixTree& tree) {
  std::vector<std::pair<double, Candidates::const_iterator>> order;
  for (auto it = candidates.begin(); it != candidates.end(); ++it) order.emplace_back(it->second.total(), it);
  const auto kept = std::min(order.size(), static_cast<size_t>(size));
  std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(kept), order.end(),
                    [](const auto& a, const auto& b) { return a.first > b.first; });
  Beam beam;
  for (size_t i = 0; i < kept; ++i) {
    const auto& [candidate, paths] = *order[i].second;
    const bool exists = candidate.token == kNoToken;
    beam[exists ? candidate.node : tree.Add(candidate.node, candidate.token)] = paths;
  }
  return beam;
}

}  // namespace

Result<CtcResult> CtcGreedyDecode(const Tensor& log_probs, int64_t blank) {
  TERN_ASSIGN(const Tensor t, Steps(log_probs, blank));
  CtcResult out;
  int64_t previous = blank;
  const int64_t classes = t.dim(1);
  for (int64_t step = 0; step < t.dim(0); ++step) {
    const float* p = t.data<float>() + step * classes;
    const int64_t best = std::max_element(p, p + classes) - p;
    out.log_probability += p[best];
    if (best != blank && best != previous) out.tokens.push_back(best);
    previous = best;
  }
  return out;
}

Result<std::vector<CtcResult>> CtcBeamDecode(const Tensor& log_probs, int64_t blank, int64_t beam_size) {
  TERN_ASSIGN(const Tensor t, Steps(log_probs, blank));
  if (beam_size < 1 || beam_size > kMaxBeam)
    return InvalidArgument("a beam of ", beam_size, "; 1 to ", kMaxBeam, " are possible");
  PrefixTree tree;
  Beam beam{{0, {0, kImpossible}}};
  for (int64_t step = 0; step < t.dim(0); ++step) {
    Candidates next;
    AddStep(t.data<float>() + step * t.dim(1), t.dim(1), blank, beam, tree, next);
    beam = KeepBest(next, beam_size, tree);
  }
  std::vector<CtcResult> out;
  for (const auto& [node, paths] : beam) out.push_back({tree.Tokens(node), paths.total()});
  std::stable_sort(out.begin(), out.end(), [](const CtcResult& a, const CtcResult& b) {
    return a.log_probability > b.log_probability;
  });
  return out;
}

Result<std::string> JoinTokens(const std::vector<int64_t>& tokens, const std::vector<std::string>& names) {
  std::string out;
  for (const int64_t token : tokens) {
    if (token < 0 || token >= static_cast<int64_t>(names.size()))
      return InvalidArgument("token ", token, " has no name; there are ", names.size());
    out += names[static_cast<size_t>(token)];
  }
  return out;
}

}  // namespace tern::data
