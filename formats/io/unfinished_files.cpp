#include "formats/io/unfinished_files.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <cstring>

#include "formats/io/atomic_file.hpp"

namespace sptile::formats {
namespace {

enum class Use : int { free, reserved, listed };

// A signal may arrive at any instruction, so the table is static memory and each entry is published by one
// atomic store after the rest of it is complete.
struct Entry {
  std::atomic<Use> use{Use::free};
  int folder;
  char name[NAME_MAX + 1];
};
std::array<Entry, 32> table;
static_assert(std::atomic<Use>::is_always_lock_free);

}  // namespace

UnfinishedSlot enlist_unfinished(int folder, const std::string& name) noexcept {
  if (name.size() > NAME_MAX) return kNoSlot;
  for (std::size_t i = 0; i < table.size(); ++i) {
    Use expected = Use::free;
    if (!table[i].use.compare_exchange_strong(expected, Use::reserved)) continue;
    table[i].folder = folder;
    std::memcpy(table[i].name, name.c_str(), name.size() + 1);
    table[i].use.store(Use::listed);
    return static_cast<UnfinishedSlot>(i);
  }
  return kNoSlot;
}

void delist_unfinished(UnfinishedSlot slot) noexcept {
  if (slot != kNoSlot) table[static_cast<std::size_t>(slot)].use.store(Use::free);
}

void discard_unfinished_files() noexcept {
  for (Entry& entry : table)
    if (entry.use.load() == Use::listed) ::unlinkat(entry.folder, entry.name, 0);
}

}  // namespace sptile::formats
