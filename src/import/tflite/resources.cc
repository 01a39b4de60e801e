#include "import/tflite/resources.h"

namespace tern::tflite {

int Resources::Number(const std::string& name) {
  for (int i = 0; i < size(); ++i)
    if (at(i).name == name) return i;
  all_.emplace_back();
  all_.back().name = name;
  return size() - 1;
}

Value* Variables::Find(int resource) const {
  for (const Variables* v = this; v; v = v->outer_)
    if (const auto found = v->current_.find(resource); found != v->current_.end()) return found->second;
  return nullptr;
}

}  // namespace tern::tflite
