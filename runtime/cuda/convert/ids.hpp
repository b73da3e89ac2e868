// Row and column ids in the caller's integer type.
#pragma once

#include <cstdint>

#include "formats/core/dtype.hpp"
#include "runtime/cuda/device/qualifiers.hpp"

namespace sptile::runtime::cuda {

/// 32- or 64-bit integers in device memory, read at full width: checks come before narrowing.
struct Ids {
  const void* data = nullptr;
  bool wide = false;

  Ids() = default;
  Ids(const void* numbers, DType type) : data(numbers), wide(type == DType::i64) {}
  Ids(const std::int64_t* numbers) : data(numbers), wide(true) {}  // NOLINT(google-explicit-constructor)
  Ids(const std::int32_t* numbers) : data(numbers) {}              // NOLINT(google-explicit-constructor)

  SPTILE_HOST_DEVICE std::int64_t operator[](std::int64_t i) const {
    return wide ? static_cast<const std::int64_t*>(data)[i] : static_cast<const std::int32_t*>(data)[i];
  }
};

/// Fetches one number. Synchronizes.
template <class Run>
std::int64_t download_id(Run& run, const Ids& ids, std::int64_t i) {
  std::int64_t wide = 0;
  std::int32_t narrow = 0;
  if (ids.wide)
    run.download(&wide, static_cast<const std::int64_t*>(ids.data) + i, 1);
  else
    run.download(&narrow, static_cast<const std::int32_t*>(ids.data) + i, 1);
  return ids.wide ? wide : narrow;
}

}  // namespace sptile::runtime::cuda
