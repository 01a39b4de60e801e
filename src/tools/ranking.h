// The options --topk and --labels, which print the best classes of each output and their names.
#pragma once
#include <string>
#include <vector>

#include "core/datum.h"
#include "data/json_writer.h"
#include "data/post/topk.h"
#include "ir/graph.h"
#include "tools/args.h"

namespace tern::tools {

// The best classes in each row of one output.
struct Ranking {
  std::string output, type;
  int64_t classes = 0;
  std::vector<std::vector<data::Ranked>> rows;
};

class RankingOptions {
 public:
  void Declare(Args& args);
  bool wanted() const { return count_ > 0; }
  // Reads the file of labels, if one is given.
  Status Load();
  // Returns the best classes of each output. Skips sequences, strings and other outputs that cannot be
  // ranked, with a note on stderr. Fails if labels are given, but every output has more classes than there
  // are labels.
  Result<std::vector<Ranking>> Rank(const std::vector<Value*>& outputs, const DatumList& data) const;
  void Print(const Ranking& ranking) const;
  void Write(const Ranking& ranking, data::JsonWriter& json) const;

 private:
  bool Labels(const Ranking& ranking) const {
    return ranking.classes <= static_cast<int64_t>(labels_.size());
  }
  int64_t count_ = 0;
  std::string file_;
  std::vector<std::string> labels_;
};

}  // namespace tern::tools
