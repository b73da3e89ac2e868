// The temporaries that a signal handler has to remove: files, and folders of files.
#pragma once

#include <string>

namespace sptile::formats {

/// A place in the table of unfinished files; kNoSlot when there is none.
using UnfinishedSlot = int;
inline constexpr UnfinishedSlot kNoSlot = -1;

/// Lists a file, or a folder, in an open folder for discard_unfinished_files; kNoSlot when the table is full.
/// Take it off the list before the folder is closed.
UnfinishedSlot enlist_unfinished(int folder, const std::string& name) noexcept;

/// Adds that the listed folder is open as `inside`: files in it are removed through this descriptor, whatever
/// has its name by then. Without it only an empty folder is removed.
void open_unfinished(UnfinishedSlot slot, int inside) noexcept;

/// Takes it off the list; does nothing for kNoSlot.
void delist_unfinished(UnfinishedSlot slot) noexcept;

}  // namespace sptile::formats
