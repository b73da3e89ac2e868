// Options of orderings and the parameters of methods.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "formats/core/progress.hpp"

namespace sptile::reorder {

/// A parameter of a method, for the table of methods, the help and the validation of the command line.
struct Parameter {
  std::string_view name;     ///< "neighbours"
  std::string_view summary;  ///< one line
  double standard;           ///< the default
  double min, max;           ///< inclusive bounds
  bool whole;                ///< must be an integer
};

/// A parameter and its value.
struct Setting {
  std::string_view name;
  double value;
};

/// Named settings for a trade-off between speed and quality.
struct Preset {
  std::string_view name;     ///< "fast"
  std::string_view summary;  ///< one line
  std::span<const Setting> settings;
};

/// One of the orders compared by a method that keeps the best.
struct TriedOrder {
  std::string_view name;       ///< "degree order"
  std::int64_t tc_blocks = 0;  ///< blocks of window_rows rows and 8 columns
  bool chosen = false;
};

struct ReorderOptions {
  std::uint64_t seed = 1;  ///< seed of all random choices
  int window_rows = 8;     ///< window height that window-aware methods optimize for
  Progress* progress = nullptr;
  std::span<const Setting> settings = {};    ///< validated by check_settings; missing parameters have their
                                             ///< defaults
  std::vector<TriedOrder>* tried = nullptr;  ///< output of methods that compare orders; may be null
};

/// Returns the last value set for a parameter, else its default. The name must be in `parameters`.
double setting(const ReorderOptions& options, std::span<const Parameter> parameters, std::string_view name);

}  // namespace sptile::reorder
