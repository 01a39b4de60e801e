// Runs functions of tern/np.hpp. Standard input has lines, some with bytes after them:
//   put TYPE DIMS           the elements follow; answers "ok N", where N is the number of the array
//   call REPEAT NAME ARG... an argument is @N (an array), #TEXT (a C++ number), or text. Answers "ok COUNT
//   NANOSECONDS",
//                           then for each result "TYPE DIMS" and its elements; or "error MESSAGE"
//   clear                   forgets all arrays
#include <ctime>
#include <iostream>
#include <sstream>

#include "functions.h"

namespace np = tern::np;

namespace {

int Bytes(tern::DType type) {
  switch (type) {
    case tern::DType::kF64:
    case tern::DType::kI64:
      return 8;
    case tern::DType::kF32:
    case tern::DType::kI32:
      return 4;
    default:
      return 1;
  }
}

template <class T> np::Array Typed(const std::string& bytes, const tern::Shape& shape) {
  return np::array(reinterpret_cast<const T*>(bytes.data()), shape);
}

np::Array Put(std::istringstream& words) {
  int type = 0;
  std::string dims;
  words >> type >> dims;
  const tern::Shape shape = Argument{{}, dims == "-" ? "" : dims}.List();
  size_t count = 1;
  for (const int64_t dim : shape) count *= static_cast<size_t>(dim);
  std::string bytes(count * static_cast<size_t>(Bytes(static_cast<tern::DType>(type))), '\0');
  std::cin.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  switch (static_cast<tern::DType>(type)) {
    case tern::DType::kF32:
      return Typed<float>(bytes, shape);
    case tern::DType::kF64:
      return Typed<double>(bytes, shape);
    case tern::DType::kI32:
      return Typed<int32_t>(bytes, shape);
    case tern::DType::kI64:
      return Typed<int64_t>(bytes, shape);
    case tern::DType::kU8:
      return Typed<uint8_t>(bytes, shape);
    default:
      return Typed<bool>(bytes, shape);
  }
}

Argument Parse(const std::string& word, const std::vector<np::Array>& arrays) {
  if (word[0] == '@') return {arrays.at(std::stoul(word.substr(1))), ""};
  if (word[0] != '#') return {{}, word == "-" ? "" : word};
  const std::string number = word.substr(1);
  if (number.find_first_of(".en") == std::string::npos) return {np::Array(std::stoll(number)), ""};
  return {np::Array(std::stod(number)), ""};
}

void Answer(const std::vector<np::Array>& results, double nanoseconds) {
  for (const np::Array& a : results)
    if (!a.ok()) {
      std::cout << "error " << a.status().message() << std::endl;
      return;
    }
  std::cout << "ok " << results.size() << " " << nanoseconds << "\n";
  for (const np::Array& a : results) {
    std::cout << static_cast<int>(a.dtype()) << " ";
    for (int64_t i = 0; i < a.ndim(); ++i) std::cout << (i ? "," : "") << a.shape()[static_cast<size_t>(i)];
    std::cout << "\n";
    std::cout.write(static_cast<const char*>(a.raw()), a.size() * Bytes(a.dtype()));
  }
  std::cout.flush();
}

void Run(std::istringstream& words, const std::vector<np::Array>& arrays) {
  int repeat = 1;
  std::string name;
  words >> repeat >> name;
  std::vector<Argument> args;
  for (std::string word; words >> word;) args.push_back(Parse(word, arrays));
  std::vector<np::Array> results;
  const std::clock_t start = std::clock();
  for (int i = 0; i < repeat; ++i) results = Call(name, args);
  Answer(results, 1e9 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / repeat);
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  std::vector<np::Array> arrays;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "clear") {
      arrays.clear();
    } else if (command == "put") {
      arrays.push_back(Put(words));
      std::cout << "ok " << arrays.size() - 1 << std::endl;
    } else {
      Run(words, arrays);
    }
  }
}
