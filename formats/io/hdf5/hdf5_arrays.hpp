// Readers of index and value arrays in HDF5 files.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>

#include "formats/core/buffer.hpp"
#include "formats/io/files/claim.hpp"
#include "formats/io/hdf5/hdf5_reader.hpp"
#include "formats/io/read_matrix.hpp"

namespace sptile::formats {

/// Reads `expected` integers in [0, limit); any number of them if `expected` is negative. Errc::bad_input
/// with file and array.
template <class T>
Status read_indices(const Hdf5Reader& file, const std::string& name, Buffer<T>& into, std::int64_t limit,
                    std::int64_t expected = -1) {
  const auto array = file.array(name);
  if (!array) return tl::unexpected(array.error());
  const auto refuse = [&](std::string message) {
    return fail(Errc::bad_input, std::move(message), file.where(name));
  };
  if (array->type.kind == NumberKind::real) return refuse("has real numbers; indices are integers");
  if (expected >= 0 && array->size != expected)
    return refuse("has " + std::to_string(array->size) + " elements, not " + std::to_string(expected));
  into = claim<T>(array->size);
  if (Status s = file.read(*array, into.data()); !s) return s;
  const auto* const out = std::find_if(into.begin(), into.end(), [=](T x) { return x < 0 || x >= limit; });
  if (out == into.end()) return {};
  return refuse(std::to_string(*out) + " at " + std::to_string(out - into.begin()) + "; expected 0 to " +
                std::to_string(limit - 1));
}

/// Reads values: f32 for real numbers of up to 32 bits, else f64. Adds integers that f64 cannot represent to
/// `lost`.
Result<Array> read_values(const Hdf5Reader& file, const Hdf5Array& array, LossCounts& lost);

}  // namespace sptile::formats
