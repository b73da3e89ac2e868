// Lookup of the mapped file of an address, for signal handlers.
#pragma once

#include <span>
#include <string_view>

namespace sptile::tools {

/// Finds the mapping of this process that contains `address` in /proc/self/maps and copies the path of its
/// file to `path`. Returns the path, truncated to fit; empty if there is no such file. Async-signal-safe.
std::string_view mapped_file(const void* address, std::span<char> path) noexcept;

}  // namespace sptile::tools
