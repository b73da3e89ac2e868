// Which mapped file an address belongs to, asked by a signal handler.
#pragma once

#include <span>
#include <string_view>

namespace sptile::tools {

/// Finds the mapping of this process that holds `address` in /proc/self/maps and copies the path of its file
/// to `path`. Gives the path, cut where it is longer; empty where there is no such file. Safe in a signal
/// handler.
std::string_view mapped_file(const void* address, std::span<char> path) noexcept;

}  // namespace sptile::tools
