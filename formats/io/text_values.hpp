// Values in text whose type nobody tells.
#pragma once

#include <string_view>
#include <vector>

#include "formats/io/sparse_arrays.hpp"
#include "formats/io/text_lines.hpp"

namespace sptile::formats {

/// Collects numbers as f64. They are integers as long as all of them are written as such.
class TextValues {
 public:
  /// Adds a number of the line that came last; false for a word that is none.
  bool add(std::string_view word, TextLines& lines);

  /// Hands over the values; adds those that f64 cannot hold to `loss`.
  void give(SparseArrays& arrays, ValueLoss& loss);

 private:
  std::vector<double> values_;
  ValueLoss loss_;          // without integers
  ValueLoss integer_loss_;  // which counts where all are integers
  bool integers_ = true;
};

}  // namespace sptile::formats
