// --topk 5 --labels FILE: the best classes of an output, by name.
#pragma once
#include <string>
#include <vector>

#include "core/datum.h"
#include "data/json_writer.h"
#include "tools/args.h"

namespace tern::tools {

class RankingOptions {
 public:
  void Declare(Args& args);
  bool wanted() const { return count_ > 0; }
  // Reads the labels: a name a line.
  Status Load();
  Status Print(const std::string& output, const Datum& datum) const;
  Status Write(const Datum& datum, data::JsonWriter& json) const;

 private:
  std::string LabelOf(int64_t index) const;
  int64_t count_ = 0;
  std::string file_;
  std::vector<std::string> labels_;
};

}  // namespace tern::tools
