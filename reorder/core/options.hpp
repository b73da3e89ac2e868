// What an ordering is asked for, and the numbers that tune it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "formats/core/progress.hpp"

namespace sptile::reorder {

/// A number that tunes a method, as the table, the help and the check of the command line know it.
struct Parameter {
  std::string_view name;     ///< "neighbours"
  std::string_view summary;  ///< one line
  double standard;           ///< the default
  double least, most;        ///< both allowed
  bool whole;                ///< only whole numbers make sense
};

/// A parameter that was given a value.
struct Setting {
  std::string_view name;
  double value;
};

/// Settings with a name: a point on the way from fast to thorough.
struct Preset {
  std::string_view name;     ///< "fast"
  std::string_view summary;  ///< one line
  std::span<const Setting> settings;
};

/// One of the orders that a method compared, to keep the best.
struct TriedOrder {
  std::string_view name;       ///< "degree order"
  std::int64_t tc_blocks = 0;  ///< of window_rows rows and 8 columns
  bool chosen = false;
};

struct ReorderOptions {
  std::uint64_t seed = 1;  ///< of every random choice
  int window_rows = 8;     ///< height that window-aware methods aim at
  Progress* progress = nullptr;
  std::span<const Setting> settings = {};    ///< checked by check_settings; what is missing has its default
  std::vector<TriedOrder>* tried = nullptr;  ///< where a method that compares orders tells what it found
};

/// The value of one of `parameters`: the last one set, else its default. The name must be among them.
double setting(const ReorderOptions& options, std::span<const Parameter> parameters, std::string_view name);

}  // namespace sptile::reorder
