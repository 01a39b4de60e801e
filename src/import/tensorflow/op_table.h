// The entries of TensorFlow's registry of operators: names of outputs and defaults of attributes.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "import/tensorflow/messages.h"

namespace tern::tensorflow {

struct OutputArg {
  std::string name;
  std::string number_attr;     // if not empty, the attribute with the number of outputs
  std::string type_list_attr;  // if not empty, the attribute that lists the type of each output
};

struct OpInfo {
  std::vector<OutputArg> outputs;
  std::map<std::string, pb::AttrValue, std::less<>> defaults;
};

// Returns null for an operator that TensorFlow 2.21 does not have.
const OpInfo* FindOpInfo(std::string_view op);
std::vector<std::string> AllOps();

}  // namespace tern::tensorflow
