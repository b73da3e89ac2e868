// Table of temporary files and folders that a signal handler removes.
#pragma once

#include <string>

namespace sptile::formats {

/// Index in the table of unfinished files, or kNoSlot.
using UnfinishedSlot = int;
inline constexpr UnfinishedSlot kNoSlot = -1;

/// Registers a file or folder in an open folder for discard_unfinished_files. Returns kNoSlot if the table is
/// full. Call delist_unfinished before closing the folder.
UnfinishedSlot enlist_unfinished(int folder, const std::string& name) noexcept;

/// Adds a folder, open as `fd`, that may have the registered name: the new one or the one that it replaces.
/// Files are removed only from the folder that has the name when the signal arrives. At most two per slot.
void open_unfinished(UnfinishedSlot slot, int fd) noexcept;

/// Removes the slot from the table; does nothing for kNoSlot.
void delist_unfinished(UnfinishedSlot slot) noexcept;

}  // namespace sptile::formats
