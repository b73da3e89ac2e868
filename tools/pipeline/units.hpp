// Formatting of bytes and seconds.
#pragma once

#include <cstdint>
#include <string>

namespace sptile::tools {

/// Formats "512 B", "1.5 KiB", "20.1 MiB".
std::string human_bytes(std::int64_t bytes);

/// Formats "850 ns", "12.3 us", "4.1 ms", "1.3 s", "2 min 5 s", "3 h 20 min".
std::string human_seconds(double seconds);

}  // namespace sptile::tools
