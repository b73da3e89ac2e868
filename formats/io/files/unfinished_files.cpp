#include "formats/io/files/unfinished_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>

#include "formats/io/files/atomic_file.hpp"
#include "formats/io/files/temporary_name.hpp"

namespace sptile::formats {
namespace {

enum class Use : int { free, reserved, listed };

// A signal may arrive at any instruction. The table is therefore static memory, and an atomic store publishes
// each entry once the rest of it is complete.
struct Entry {
  std::atomic<Use> use{Use::free};
  std::array<std::atomic<int>, 2> inside;  // open folders that may have the name; -1: none
  int folder;
  char name[NAME_MAX + 1];
};
std::array<Entry, 32> table;
static_assert(std::atomic<Use>::is_always_lock_free);

// Uses getdents, because readdir may allocate and this runs in a signal handler. Restarts after removals,
// which move later directory entries.
void empty_folder(int fd) noexcept {
  alignas(dirent64) char block[4096];
  for (bool removed = true; removed;) {
    removed = false;
    ::lseek(fd, 0, SEEK_SET);
    const long bytes = ::syscall(SYS_getdents64, fd, block, sizeof block);
    for (long at = 0; at < bytes;) {
      const auto* const entry = reinterpret_cast<const dirent64*>(block + at);
      removed |= ::unlinkat(fd, entry->d_name, 0) == 0;  // fails for "." and ".."
      at += entry->d_reclen;
    }
  }
}

void discard(Entry& entry) noexcept {
  for (const std::atomic<int>& inside : entry.inside)
    if (const int fd = inside.load(); fd >= 0 && is_still(entry.folder, entry.name, fd)) empty_folder(fd);
  if (::unlinkat(entry.folder, entry.name, 0) != 0 && errno == EISDIR)
    ::unlinkat(entry.folder, entry.name, AT_REMOVEDIR);
}

}  // namespace

UnfinishedSlot enlist_unfinished(int folder, const std::string& name) noexcept {
  if (name.size() > NAME_MAX) return kNoSlot;
  for (std::size_t i = 0; i < table.size(); ++i) {
    Use expected = Use::free;
    if (!table[i].use.compare_exchange_strong(expected, Use::reserved)) continue;
    table[i].folder = folder;
    for (std::atomic<int>& inside : table[i].inside) inside.store(-1);
    std::memcpy(table[i].name, name.c_str(), name.size() + 1);
    table[i].use.store(Use::listed);
    return static_cast<UnfinishedSlot>(i);
  }
  return kNoSlot;
}

void open_unfinished(UnfinishedSlot slot, int fd) noexcept {
  if (slot == kNoSlot) return;
  for (std::atomic<int>& inside : table[static_cast<std::size_t>(slot)].inside)
    if (int none = -1; inside.compare_exchange_strong(none, fd)) return;
}

void delist_unfinished(UnfinishedSlot slot) noexcept {
  if (slot != kNoSlot) table[static_cast<std::size_t>(slot)].use.store(Use::free);
}

void discard_unfinished_files() noexcept {
  for (Entry& entry : table)
    if (entry.use.load() == Use::listed) discard(entry);
}

}  // namespace sptile::formats
