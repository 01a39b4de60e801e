// Sequences of different lengths as rows of one batch.
#pragma once
#include <memory>
#include <vector>

#include "server/generate/causal_model.h"

namespace tern::server {

// Returns the number of positions for which states of this length have memory.
int64_t CapacityOf(int64_t tokens);

// All rows have the same number of positions in the model's states. A mask tells which of them a row uses. So
// a row may have positions without a token: between its tokens if it joined a batch with longer rows, and
// after them if its prompt was padded. The states of such positions are finite numbers, and the mask gives
// them no weight. Not thread-safe.
class RowBatch {
 public:
  explicit RowBatch(std::shared_ptr<const CausalModel> model);

  int64_t rows() const { return static_cast<int64_t>(mask_.size()); }
  int64_t length() const { return length_; }                                   // positions per row
  int64_t used(int64_t row) const { return used_[static_cast<size_t>(row)]; }  // with a token
  size_t bytes() const;                                                        // of the states
  void Clear();                                                                // no rows, no positions

  // Sets the number of rows. New rows have no tokens.
  Status SetRows(int64_t rows);
  // Copies the tokens of row `row` of `from`, which may be this batch, to the beginning of row `to`. The old
  // tokens of row `to` are removed.
  Status CopyRow(int64_t to, RowBatch& from, int64_t row);
  // Removes the tokens of the row. `forget`: also sets its states to zero, which is necessary if they are not
  // finite.
  Status ClearRow(int64_t row, bool forget);
  // Moves the tokens of each row to its beginning, so that length() becomes the largest used().
  Status Compact();
  // Returns the length to which Compact would reduce the batch.
  int64_t longest() const;

  // Appends `count` tokens to each row. The first valid[r] of them are tokens of row r, the others padding.
  // `tokens` has rows() * count elements. A batch of one row computes only the scores after the row's last
  // token, unless `all_scores` is true.
  Status Run(const std::vector<int64_t>& tokens, int64_t count, const std::vector<int64_t>& valid,
             int threads, bool all_scores = false);
  // Returns the scores after token i of the last run, if they were computed.
  Result<const float*> Scores(int64_t row, int64_t i);
  int64_t vocabulary() const { return scores_.defined() ? scores_.dim(2) : 0; }  // after Scores

 private:
  struct View;  // the memory layout of a state
  struct Piece {
    int64_t from = 0, to = 0, count = 0;  // positions
  };
  Result<std::vector<View>> Views();
  Status Resize(int64_t rows, int64_t length);
  std::vector<Piece> PiecesOf(int64_t row) const;
  static void CopyPieces(const View& to, int64_t to_row, const View& from, int64_t from_row,
                         const std::vector<Piece>& pieces);
  Status Bind(int input, const std::vector<int64_t>& values, int64_t width);
  Status BindScores(int64_t count, const std::vector<int64_t>& valid, bool all);

  const std::shared_ptr<const CausalModel> model_;
  std::unique_ptr<Session> session_;
  int64_t length_ = 0;
  int64_t first_score_ = 0, score_count_ = 0;  // tokens of the last run that have scores
  std::vector<std::vector<uint8_t>> mask_;     // [row][position]
  std::vector<int64_t> used_;                  // [row]
  Tensor scores_;                              // of the last run, as f32
};

}  // namespace tern::server
