// The functions of tern/np.hpp by name, with arguments as text.
#pragma once
#include <string>
#include <vector>

#include "tern/np.hpp"

// One argument: an array, or text that is read as the function needs it.
struct Argument {
  tern::np::Array array;
  std::string text;
  double Number() const { return std::stod(text); }
  int64_t Int() const { return text == "none" ? tern::np::none : std::stoll(text); }
  tern::Shape List() const;  // "1,2"; "" is empty
  tern::np::Axis Axes() const;
};

// Fails with an array that has an error. Throws std::out_of_range for an unknown name.
std::vector<tern::np::Array> Call(const std::string& name, const std::vector<Argument>& args);
