#include "tools/measure/host_copy.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "runtime/threads/count.hpp"
#include "tools/pipeline/stopwatch.hpp"

namespace sptile::tools {
namespace {

constexpr std::int64_t kLeastBytes = std::int64_t{1} << 26, kMostBytes = std::int64_t{1} << 29;
constexpr int kCopies = 5;
constexpr std::int64_t kPiece = std::int64_t{1} << 20;

void copy_pieces(std::byte* to, const std::byte* from, std::int64_t bytes) {
#pragma omp parallel for schedule(static) num_threads(runtime::most_threads())
  for (std::int64_t at = 0; at < bytes; at += kPiece)
    std::memcpy(to + at, from + at, static_cast<std::size_t>(std::min(kPiece, bytes - at)));
}

}  // namespace

double measure_host_copy() try {
  const std::int64_t cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  const std::int64_t bytes = std::clamp(4 * std::max<std::int64_t>(cache, 0), kLeastBytes, kMostBytes);
  const auto from = std::make_unique<std::byte[]>(static_cast<std::size_t>(bytes)),
             to = std::make_unique<std::byte[]>(static_cast<std::size_t>(bytes));
  copy_pieces(to.get(), from.get(), bytes);  // touches every page
  double best = 0;
  for (int i = 0; i < kCopies; ++i) {
    const Stopwatch watch;
    copy_pieces(to.get(), from.get(), bytes);
    best = std::max(best, 2 * static_cast<double>(bytes) / watch.seconds());
  }
  return best;
} catch (const std::bad_alloc&) {
  return 0;
}

}  // namespace sptile::tools
