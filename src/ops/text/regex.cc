#include "ops/text/regex.h"

#include <algorithm>

#include "ops/text/utf8.h"

namespace tern {
namespace {

constexpr size_t kMaxSteps = 20000;  // limits the memory and the time per character

}  // namespace

// Compiles a syntax tree to a program of steps. Emit appends the steps of a node. After them, the program
// continues at the step that is appended next.
class Regex::Compiler {
 public:
  Result<Regex> Run(const RegexTree& tree) {
    Emit(tree);
    Add({Kind::kMatch});
    if (full_) return InvalidModel("regular expression: it needs more than ", kMaxSteps, " states");
    return std::move(out_);
  }

 private:
  using TreeKind = RegexTree::Kind;

  // Appends a step and returns its index. If the program is too long, sets full_ instead.
  size_t Add(Step step) {
    const size_t at = out_.steps_.size();
    if (at >= kMaxSteps) full_ = true;
    if (full_) return 0;
    step.next = static_cast<int>(at) + 1;
    out_.steps_.push_back(step);
    return at;
  }
  int Here() const { return static_cast<int>(out_.steps_.size()); }
  Step& At(size_t i) { return out_.steps_[i]; }

  void Emit(const RegexTree& t) {
    switch (t.kind) {
      case TreeKind::kEmpty:
        Add({Kind::kJump});
        return;
      case TreeKind::kSet:
        out_.sets_.push_back(t.set);
        Add({Kind::kSet, {}, static_cast<int>(out_.sets_.size()) - 1});
        return;
      case TreeKind::kAssert:
        Add({Kind::kAssert, t.condition});
        return;
      case TreeKind::kSequence:
        for (const RegexTree& part : t.parts) Emit(part);
        return;
      case TreeKind::kChoice:
        return EmitChoice(t);
      case TreeKind::kRepeat:
        return EmitRepeat(t);
    }
  }

  void EmitChoice(const RegexTree& t) {
    std::vector<size_t> ends;
    for (size_t i = 0; i < t.parts.size() && !full_; ++i) {
      const bool last = i + 1 == t.parts.size();
      const size_t split = last ? 0 : Add({Kind::kSplit});
      Emit(t.parts[i]);
      if (last || full_) break;
      ends.push_back(Add({Kind::kJump}));
      At(split).other = Here();
    }
    for (size_t end : ends) At(end).next = Here();
  }

  void EmitRepeat(const RegexTree& t) {
    const RegexTree& part = t.parts[0];
    Add({Kind::kJump});  // counts towards kMaxSteps even if `part` adds no step
    for (int64_t i = 0; i < t.low && !full_; ++i) Emit(part);
    if (full_) return;
    if (t.high < 0) {
      const size_t split = Add({Kind::kSplit});
      Emit(part);
      const size_t back = Add({Kind::kJump});
      if (full_) return;
      At(back).next = static_cast<int>(split);
      At(split).other = Here();
      return;
    }
    std::vector<size_t> splits;
    for (int64_t i = t.low; i < t.high && !full_; ++i) {
      splits.push_back(Add({Kind::kSplit}));
      Emit(part);
    }
    for (size_t split : splits) At(split).other = Here();
  }

  Regex out_;
  bool full_ = false;
};

// Simulates the NFA. now_ lists the active states between two characters. Each state has the start of the
// match that it attempts. The list is ordered by start, so that if two attempts reach the same state, the
// attempt with the earlier start stays.
class Regex::Runner {
 public:
  Runner(const Regex& regex, const std::vector<uint32_t>& text)
      : regex_(regex), text_(text), seen_(regex.steps_.size(), 0) {}

  bool MatchesAll() {
    Follow(0, 0, 0);
    for (size_t at = 0; at < text_.size() && !now_.empty(); ++at) Read(at);
    return std::any_of(now_.begin(), now_.end(), [&](const State& s) { return Ends(s); });
  }

  std::optional<Span> Find(size_t from) {
    std::optional<Span> best;
    for (size_t at = from; at <= text_.size(); ++at) {
      if (!best) Follow(0, at, at);
      for (const State& s : now_)
        if (Ends(s) && (!best || s.begin <= best->begin)) best = Span{s.begin, at};
      if (best) Drop(best->begin);
      if (at == text_.size() || (best && now_.empty())) break;
      Read(at);
    }
    return best;
  }

 private:
  struct State {
    int step;
    size_t begin;
  };

  bool Holds(RegexAssert condition, size_t at) const {
    const bool first = at == 0, last = at == text_.size();
    const bool before = !first && IsWordCode(text_[at - 1]), after = !last && IsWordCode(text_[at]);
    switch (condition) {
      case RegexAssert::kTextStart:
        return first;
      case RegexAssert::kTextEnd:
        return last;
      case RegexAssert::kLineStart:
        return first || text_[at - 1] == '\n';
      case RegexAssert::kLineEnd:
        return last || text_[at] == '\n';
      case RegexAssert::kWordBoundary:
        return before != after;
      case RegexAssert::kNotWordBoundary:
        return before == after;
    }
    return false;
  }

  bool Ends(const State& s) const { return regex_.steps_[static_cast<size_t>(s.step)].kind == Kind::kMatch; }

  // Removes attempts that start after `begin`, because a match that starts at `begin` was found.
  void Drop(size_t begin) {
    const auto late = [&](const State& s) { return s.begin > begin; };
    now_.erase(std::remove_if(now_.begin(), now_.end(), late), now_.end());
  }

  // Advances over one character.
  void Read(size_t at) {
    before_.swap(now_);
    now_.clear();
    ++generation_;
    for (const State& s : before_) {
      const Step& step = regex_.steps_[static_cast<size_t>(s.step)];
      if (step.kind == Kind::kSet && Contains(regex_.sets_[static_cast<size_t>(step.set)], text_[at]))
        Follow(step.next, at + 1, s.begin);
    }
  }

  // Adds all states that can be reached from `first` without reading a character.
  void Follow(int first, size_t at, size_t begin) {
    todo_.assign(1, first);
    while (!todo_.empty()) {
      const int s = todo_.back();
      todo_.pop_back();
      if (seen_[static_cast<size_t>(s)] == generation_) continue;
      seen_[static_cast<size_t>(s)] = generation_;
      const Step& step = regex_.steps_[static_cast<size_t>(s)];
      if (step.kind == Kind::kSet || step.kind == Kind::kMatch) now_.push_back({s, begin});
      if (step.kind == Kind::kJump || step.kind == Kind::kSplit) todo_.push_back(step.next);
      if (step.kind == Kind::kSplit) todo_.push_back(step.other);
      if (step.kind == Kind::kAssert && Holds(step.condition, at)) todo_.push_back(step.next);
    }
  }

  const Regex& regex_;
  const std::vector<uint32_t>& text_;
  std::vector<State> now_, before_;
  std::vector<size_t> seen_;
  std::vector<int> todo_;
  size_t generation_ = 1;
};

Result<Regex> Regex::Parse(std::string_view pattern) {
  TERN_ASSIGN(const RegexTree tree, ParseRegex(pattern));
  return Compiler().Run(tree);
}

bool Regex::FullMatch(std::string_view text) const {
  const std::vector<uint32_t> codes = CodePoints(text);
  return Runner(*this, codes).MatchesAll();
}

std::optional<Regex::Span> Regex::Find(const std::vector<uint32_t>& text, size_t from) const {
  return Runner(*this, text).Find(from);
}

}  // namespace tern
