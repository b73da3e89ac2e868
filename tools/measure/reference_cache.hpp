// What the results of a product should be, computed once and compared with those of every format, kernel and
// precision.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "formats/core/progress.hpp"
#include "runtime/operation/operation.hpp"

namespace sptile::tools {

/// Which rows of a result are compared with the reference.
enum class CheckedRows {
  none,
  some,  ///< of large products: blocks of neighbours at even distances
  all
};

class ReferenceCache {
 public:
  /// Keeps no more than so many bytes.
  explicit ReferenceCache(std::size_t most_bytes) : most_(most_bytes / (2 * sizeof(double))) {}

  /// The operands with that row of the matrix as their first; called from several threads.
  using OperandsFrom = std::function<runtime::Operands(std::int64_t row)>;

  /// Forgets everything: another matrix or other operands come.
  void clear();

  /// The largest error of the results among the operands, see Operation::reference; rows are compared in
  /// parallel. Numbers of the reference that find no room are computed again each time, as
  /// are all where the operation reads lists of entries, which stand in another order in each format. Between
  /// clears all products have the same matrix, operation and operands; values of another type clear by
  /// themselves.
  double error(const runtime::Operation& op, const runtime::ReferenceProduct& product,
               const OperandsFrom& operands, CheckedRows rows, Progress* progress);

 private:
  /// Numbers that follow each other in one result.
  struct Run {
    std::size_t operand;
    DType type;
    std::int64_t first, count;
  };
  /// The reference of a block of rows.
  struct Block {
    std::vector<Run> runs;
    std::vector<double> values, scales, slacks;  ///< of all runs; no slacks: all are 0
  };

  static Block compute(const runtime::Operation& op, const runtime::ReferenceProduct& part,
                       const runtime::Operands& operands, std::size_t numbers);
  static double compare(const Block& block, const runtime::Operation& op, const runtime::Operands& operands,
                        std::span<const std::int64_t> packed);
  bool reserve(std::size_t numbers);
  double block_error(const runtime::Operation& op, const runtime::ReferenceProduct& part,
                     const runtime::Operands& operands, Block& block);

  DType values_ = DType::none;
  std::vector<Block> blocks_;
  std::size_t most_, kept_ = 0;  // numbers
};

}  // namespace sptile::tools
