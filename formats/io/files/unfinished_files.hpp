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

/// Adds a folder, open as `fd`, that may have the listed name: the new one, and the one that it replaces.
/// Files are removed only from the one of them that has the name when the signal comes. At most two.
void open_unfinished(UnfinishedSlot slot, int fd) noexcept;

/// Takes it off the list; does nothing for kNoSlot.
void delist_unfinished(UnfinishedSlot slot) noexcept;

}  // namespace sptile::formats
