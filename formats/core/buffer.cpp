#include "formats/core/buffer.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>

namespace sptile::formats {
namespace {
constexpr std::int64_t kHugePage = std::int64_t{2} << 20;
}

OutOfMemory::OutOfMemory(std::uint64_t bytes) noexcept {
  std::snprintf(text_.data(), text_.size(), "out of memory: cannot allocate an array of %llu bytes",
                static_cast<unsigned long long>(bytes));
}

const char* out_of_memory(const std::bad_alloc& error) noexcept {
  const auto* const ours = dynamic_cast<const OutOfMemory*>(&error);
  return ours != nullptr ? ours->what() : "out of memory";
}

void* allocate_bytes(std::int64_t bytes) {
  const bool large = bytes >= 4 * kHugePage;
  const auto alignment = static_cast<std::size_t>(large ? kHugePage : 64);
  const std::size_t rounded = (static_cast<std::size_t>(bytes) + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) throw OutOfMemory(rounded);
  if (large)
    ::madvise(memory, rounded, MADV_HUGEPAGE);  // only advice: failure affects speed, not
                                                // correctness
  return memory;
}

void release_pages(void* begin, void* end) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t first = (reinterpret_cast<std::uintptr_t>(begin) + page - 1) / page * page;
  const std::uintptr_t last = reinterpret_cast<std::uintptr_t>(end) / page * page;
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace sptile::formats
