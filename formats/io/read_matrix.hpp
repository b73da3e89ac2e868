// What readers of whole matrices give beside the matrix.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/core/csr.hpp"
#include "formats/core/error.hpp"
#include "formats/core/nonempty_rows.hpp"
#include "formats/core/value_loss.hpp"

namespace sptile::formats {

/// A matrix of a file: values of the type that holds those of the file, f64 for text and for integers.
struct ReadMatrix {
  Csr csr;
  std::int64_t duplicates = 0;                ///< entries that were summed into another one
  std::string source_sha256;                  ///< of the bytes as stored, where the reader was asked for it
  std::vector<std::string> notes;             ///< what was taken for granted or left aside, a sentence each
  ValueLoss loss = {};                        ///< values that the type of the result cannot hold
  bool integers = false;                      ///< the values are integers
  std::optional<NonemptyRows> nonempty = {};  ///< which rows `csr` has, where it does not have all
};

}  // namespace sptile::formats
