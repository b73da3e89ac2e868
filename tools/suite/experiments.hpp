// Experiments of the papers as tables: the kernels, formats and row orders of each figure that one machine
// can repeat.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sptile::tools {

/// Baseline of experiments that the papers compare with cuSPARSE.
inline constexpr std::string_view kCusparse = "cuSPARSE";

/// One bar of a figure: a format, a kernel and a row order.
struct Variant {
  std::string_view name;                ///< as in the paper
  std::string_view format;              ///< may have a parameter: "libra_spmm:3"
  std::string_view kernel;              ///< name in runtime::kernels()
  std::string_view order = "identity";  ///< METHOD[:PRESET], then settings: "wjaccard stretch=0 isolation=0"
  bool ablation = false;                ///< the kernel is built with -Dablations=enabled only
};

/// A figure or table of times. Every variant runs in the same precision with the same types, on a CUDA
/// device.
struct Experiment {
  std::string_view name;  ///< "fig10", unique in its suite
  std::string_view title;
  std::span<const Variant> variants;
  std::span<const std::int64_t> columns;  ///< values of N
  std::string_view baseline = kCusparse;  ///< or the name of a variant
  std::string_view op = "spmm";           ///< operation
  std::string_view precision = "tf32";    ///< fp16 implies 16-bit A and B
  std::string_view result = {};           ///< type of C; empty: that of B
  int window_rows = 8;                    ///< window height for which rows are ordered
};

/// A figure about sizes and densities, which needs no device.
struct Structure {
  std::string_view name;  ///< "fig13", unique in its suite
  std::string_view title;
  std::span<const std::string_view> orders;  ///< see Variant::order
  /// Formats, which may have parameters; empty: quantities of the row order.
  std::span<const std::string_view> formats = {};
  /// Keys of `formats[]` of `stats`, or see measure_structures.
  std::span<const std::string_view> quantities = {};
  int window_rows = 8;    ///< window height for which rows are ordered
  bool compared = false;  ///< also COO, CSR with 32-bit row pointers, and TCF
};

/// The experiments of one paper.
struct Suite {
  std::string_view name;   ///< "rsh", also the name of the list of matrices
  std::string_view paper;  ///< "RSH-SpMM"
  std::span<const Experiment> experiments;
  std::span<const Structure> structures = {};
  std::string_view core_rates = {};  ///< name of the experiment with measure_core_rates; empty: none
};

/// Returns the suites by name: rsh, acc, voltrix, libra, hygnn.
std::span<const Suite> suites();

/// Returns the suite of a name that the command line has checked.
const Suite& suite_named(std::string_view name);

/// Returns the formats whose fastest known kernels are compared with an experiment of an operation.
std::string_view formats_to_compare(std::string_view op);

}  // namespace sptile::tools
