// Collects the operators of a model that an importer does not support, so that one error lists all of them.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "base/status.h"

namespace tern::import {

class UnsupportedOperators {
 public:
  // `place` names the node, such as "'conv1' (layer #3)".
  void Add(const std::string& op, const std::string& place);
  bool empty() const { return found_.empty(); }
  // Returns kUnsupported if an operator was added. The message lists all operators, how often each occurs,
  // and up to five places of each.
  Status status() const;

 private:
  struct Found {
    int count = 0;
    std::vector<std::string> places;
  };
  std::map<std::string, Found> found_;
};

}  // namespace tern::import
