#include "tools/stats/line_lengths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "formats/core/compact_columns.hpp"
#include "tools/cli/json.hpp"

namespace sptile::tools {
namespace {

// Returns the bin of a length: 0, 1, 2, 3 to 4, 5 to 8, ...
std::size_t doubling_bin(std::int64_t length) {
  return length <= 0 ? 0
                     : 1 + static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(length - 1)));
}

LengthBin doubling_range(std::size_t bin) {
  if (bin < 2) return {static_cast<std::int64_t>(bin), static_cast<std::int64_t>(bin), 0};
  return {(std::int64_t{1} << (bin - 2)) + 1, std::int64_t{1} << (bin - 1), 0};
}

constexpr std::size_t kBins = 32;

// Returns the share of `lines` lines that are longer than a bound. The lengths ascend.
double share_above(const std::vector<std::int64_t>& lengths, double bound, double lines) {
  const auto first =
      std::ranges::upper_bound(lengths, bound, {}, [](std::int64_t n) { return static_cast<double>(n); });
  return static_cast<double>(lengths.end() - first) / lines;
}

}  // namespace

LineLengths measure_lengths(std::vector<std::int64_t> lengths, std::int64_t lines) {
  LineLengths result;
  result.percentiles.assign(std::size(kPercentiles), 0);
  if (lines == 0) return result;
  std::erase(lengths, 0);
  std::sort(lengths.begin(), lengths.end());
  const double count = static_cast<double>(lines);
  result.empty = lines - static_cast<std::int64_t>(lengths.size());
  const auto at_rank = [&](std::int64_t rank) {
    return rank <= result.empty ? 0 : lengths[static_cast<std::size_t>(rank - result.empty - 1)];
  };
  result.minimum = at_rank(1);
  result.maximum = at_rank(lines);
  result.mean = static_cast<double>(std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0})) / count;
  double squares = static_cast<double>(result.empty) * std::pow(result.mean, 2);
  for (const std::int64_t n : lengths) squares += std::pow(static_cast<double>(n) - result.mean, 2);
  result.deviation = std::sqrt(squares / count);
  result.above_2x_mean = share_above(lengths, 2 * result.mean, count);
  result.above_4x_mean = share_above(lengths, 4 * result.mean, count);
  result.bins = length_bins(lengths, kBins);
  for (std::size_t i = 0; i < std::size(kPercentiles); ++i)
    result.percentiles[i] = at_rank(static_cast<std::int64_t>(std::ceil(kPercentiles[i] / 100.0 * count)));
  return result;
}

std::vector<std::int64_t> row_lengths(const formats::CsrView& a) {
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(a.rows));
  for (std::int64_t r = 0; r < a.rows; ++r) lengths[static_cast<std::size_t>(r)] = a.row_nnz(r);
  return lengths;
}

std::vector<std::int64_t> column_lengths(const formats::CsrView& a) {
  const formats::CompactColumns columns(a);
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(columns.view().cols), 0);
  for (const std::int32_t c : columns.view().col_idx) ++lengths[static_cast<std::size_t>(c)];
  return lengths;
}

std::vector<LengthBin> length_bins(const std::vector<std::int64_t>& lengths, std::size_t max_bins) {
  if (lengths.empty()) return {};
  const auto [low, high] = std::minmax_element(lengths.begin(), lengths.end());
  const bool single = *high - *low < static_cast<std::int64_t>(max_bins);
  std::vector<LengthBin> bins;
  const std::size_t count =
      single ? static_cast<std::size_t>(*high - *low) + 1 : doubling_bin(*high) - doubling_bin(*low) + 1;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t length = *low + static_cast<std::int64_t>(i);
    bins.push_back(single ? LengthBin{length, length, 0} : doubling_range(doubling_bin(*low) + i));
  }
  for (const std::int64_t n : lengths)
    ++bins[single ? static_cast<std::size_t>(n - *low) : doubling_bin(n) - doubling_bin(*low)].lines;
  return bins;
}

Json to_json(const LineLengths& lengths) {
  Json percentiles = Json::object(), bins = Json::array();
  for (std::size_t i = 0; i < std::size(kPercentiles); ++i)
    percentiles[fmt::format("p{}", kPercentiles[i])] = lengths.percentiles[i];
  for (const LengthBin& bin : lengths.bins)
    bins.push_back({{"min", bin.min}, {"max", bin.max}, {"lines", bin.lines}});
  return {{"empty", lengths.empty},
          {"min", lengths.minimum},
          {"max", lengths.maximum},
          {"mean", lengths.mean},
          {"deviation", lengths.deviation},
          {"percentiles", percentiles},
          {"above_2x_mean", lengths.above_2x_mean},
          {"above_4x_mean", lengths.above_4x_mean},
          {"bins", bins}};
}

}  // namespace sptile::tools
