// References of a product, computed once and compared with the results of every format, kernel and precision.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "formats/core/progress.hpp"
#include "runtime/operation/operation.hpp"

namespace sptile::tools {

/// Rows of a result that are compared with the reference.
enum class CheckedRows {
  none,
  some,  ///< evenly spaced blocks of consecutive rows of large products
  all
};

class ReferenceCache {
 public:
  /// Caches at most `max_bytes` bytes.
  explicit ReferenceCache(std::size_t max_bytes) : max_(max_bytes / (2 * sizeof(double))) {}

  /// Returns the operands starting at a row of the matrix; called from several threads.
  using OperandsFrom = std::function<runtime::Operands(std::int64_t row)>;

  /// Clears the cache before the matrix or operands change.
  void clear();

  /// Returns the maximum error of the results among the operands, see Operation::reference. Rows are compared
  /// in parallel. Reference numbers that exceed the cache are recomputed each time, and so are all numbers if
  /// the operation reads lists of entries, whose order depends on the format. Between calls of clear, all
  /// products must have the same matrix, operation and operands; another value type clears the cache.
  double error(const runtime::Operation& op, const runtime::ReferenceProduct& product,
               const OperandsFrom& operands, CheckedRows rows, Progress* progress);

 private:
  /// Consecutive numbers of one result.
  struct Run {
    std::size_t operand;
    DType type;
    std::int64_t first, count;
  };
  /// The reference of a block of rows.
  struct Block {
    std::vector<Run> runs;
    std::vector<double> values, scales, slacks;  ///< values of all runs; empty slacks: all are 0
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
  std::size_t max_, kept_ = 0;  // in numbers
};

}  // namespace sptile::tools
