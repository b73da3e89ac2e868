#include "formats/io/hdf5/hdf5_arrays.hpp"

#include <utility>

namespace sptile::formats {
namespace {

template <class T>
Result<Array> read_numbers(const Hdf5Reader& file, const Hdf5Array& array) {
  auto numbers = claim<T>(array.size);
  if (Status s = file.read(array, numbers.data()); !s) return tl::unexpected(std::move(s.error()));
  return Array(std::move(numbers));
}

// Reads 64-bit integers, which HDF5 would round silently.
template <class T>
Result<Array> read_wide_integers(const Hdf5Reader& file, const Hdf5Array& array, LossCounts& lost) {
  claim_memory(array.size, sizeof(T) + sizeof(double));
  Buffer<T> integers(array.size);
  if (Status s = file.read(array, integers.data()); !s) return tl::unexpected(std::move(s.error()));
  Array values(DType::f64, array.size);
  const NumberType type{std::is_signed_v<T> ? NumberKind::integer : NumberKind::natural, sizeof(T)};
  lost.inexact += to_values(type, reinterpret_cast<const char*>(integers.data()), array.size, values.data());
  return values;
}

}  // namespace

Result<Array> read_values(const Hdf5Reader& file, const Hdf5Array& array, LossCounts& lost) {
  if (array.type.kind == NumberKind::integer && array.type.bytes == 8)
    return read_wide_integers<std::int64_t>(file, array, lost);
  if (array.type.kind == NumberKind::natural && array.type.bytes == 8)
    return read_wide_integers<std::uint64_t>(file, array, lost);
  const bool narrow = array.type.kind == NumberKind::real && array.type.bytes <= 4;
  return narrow ? read_numbers<float>(file, array) : read_numbers<double>(file, array);
}

}  // namespace sptile::formats
