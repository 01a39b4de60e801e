// The inputs of a TorchScript model: the parameters of its method forward. The file declares neither shapes
// nor element types. They come from the caller, from the example with which the model was traced, or from
// operators that read the input.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "import/torch/script/interpreter.h"
#include "import/torch/script/pickle.h"

namespace tern::torch::script {

// The types of inputs that the caller gives, by name. An element type or a rank may be unknown. The name of
// the only input may be empty.
using GivenTypes = std::map<std::string, Type>;

// The element type, rank and size that an operator implies for a tensor that it reads.
struct Use {
  DType dtype = DType::kF32;
  int rank = 2;
  bool sure = false;  // true if the operator accepts only this element type and, mostly, only this rank
  int axis = 0;       // an axis whose size is known; negative axes count from the end
  int64_t size = -1;  // the size of `axis`; -1 if no size is known
};
// `index` is the position of the tensor among the arguments.
Use UseOf(const CallSite& call, size_t index);

// The element type, rank and sizes that the operators that read an input imply for this input.
struct Hint {
  bool sure = false;
  DType dtype = DType::kF32;
  int rank = 0;
  std::map<int, int64_t> sizes;  // by axis; negative axes count from the end
  bool operator==(const Hint&) const = default;
};
using Hints = std::map<std::string, Hint>;  // by the name of the input

// The assumptions of one attempt to import about inputs that the caller does not describe.
struct Assumptions {
  bool traced_batch = false;  // true if a traced example's first dim keeps its size, as other dims do
  int rank = 0;               // the rank of inputs without an example; 0 means that their first use decides
  Hints hints = {};           // of an earlier attempt
};

class Inputs : public InputSource {
 public:
  // `traced` are the example's arguments of forward, or null.
  Inputs(Graph& graph, const GivenTypes& given, const Pickled* traced, const Assumptions& assumptions)
      : graph_(graph), given_(given), traced_(traced), assumptions_(assumptions), hints_(assumptions.hints) {}

  // Makes the arguments of forward. A parameter with a default becomes an input only if the caller names it
  // or the example has a value for it.
  Result<KeywordItems> Arguments(Interpreter& in, const Function& forward);

  Result<Item> DictInput(const std::string& parameter, const std::string& key) override;
  bool HasDictInput(const std::string& parameter, const std::string& key) const override;
  Status BeforeUse(const CallSite& call) override;

  // Fails if the caller describes an input that the model does not have.
  Status CheckNames() const;
  bool used_traced() const { return used_traced_; }
  bool guessed() const { return !guesses_.empty(); }
  const Hints& hints() const { return hints_; }  // with those of the assumptions
  // Returns a text such as "'x' f32[x_0,x_1]" for each input whose element type or rank is a guess.
  std::vector<std::string> Guesses() const;

 private:
  Result<Item> Make(Interpreter& in, const std::string& name, const Expr& type, const Pickled* example,
                    int depth);
  Result<Item> MakeMany(Interpreter& in, const std::string& name, const Expr& type, const Pickled* example,
                        int depth);
  Item Number(const std::string& name, DType dtype);
  Item NewInput(const std::string& name, const Pickled* example);
  // Returns whether the caller describes this input, or an input whose name is this name followed by _ or a
  // dot.
  bool Given(const std::string& name) const;
  Type FromExample(const std::string& name, const Pickled& example) const;
  void Decide(const TensorVar* tensor, const Use& use);
  void Note(Value* input, const Use& use);

  Graph& graph_;
  const GivenTypes& given_;
  const Pickled* traced_;
  Assumptions assumptions_;
  struct Open {
    Value* value;
    bool dtype, rank;  // true if the element type, or the rank, is not decided yet
  };
  std::map<const TensorVar*, Open> open_;
  std::map<const TensorVar*, Value*> guesses_;  // inputs whose element type or rank is a guess
  Hints hints_;
  bool used_traced_ = false;
};

}  // namespace tern::torch::script
