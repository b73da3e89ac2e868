#include "tools/partition/work.hpp"

#include <algorithm>

#include "formats/core/parallel_loop.hpp"
#include "runtime/choice/cost_features.hpp"
#include "runtime/choice/simulated_cache.hpp"

namespace sptile::tools {
namespace {

constexpr std::int64_t kRunLoads = std::int64_t{1} << 24, kRuns = 8;
constexpr std::int64_t kReleasedLoads = std::int64_t{1} << 18;  // rows that are released together

// Loads of some rows of a product, and how many of them miss the caches.
struct RunMisses {
  double loads = 0, near = 0, far = 0;
};

// The rows at positions [first, last), of a part or of the entire matrix.
struct RunOfRows {
  std::size_t product;
  std::int64_t first, last;
};

// Counts misses of a cache, of a sample of the rows of B.
class MissCounter {
 public:
  explicit MissCounter(double rows) : cache_(static_cast<std::int64_t>(rows)) {}

  void load(std::int32_t row) {
    if (!cache_.samples(row)) return;
    ++loads_;
    if (!cache_.fetch(row)) ++misses_;
  }

  [[nodiscard]] double share() const {
    return loads_ > 0 ? static_cast<double>(misses_) / static_cast<double>(loads_) : 0;
  }

 private:
  runtime::SimulatedCache cache_;
  std::int64_t loads_ = 0, misses_ = 0;
};

// Consecutive loads of a product from caches that are empty at first.
class LoadRun {
 public:
  // Kernels process slices of at most kSliceBytes of a row of B.
  explicit LoadRun(std::int64_t row_bytes)
      : LoadRun(static_cast<double>(std::min(row_bytes, runtime::kSliceBytes))) {}

  [[nodiscard]] bool full() const { return loads_ >= kRunLoads; }

  // Adds the columns of a row whose positions satisfy `keep`.
  template <class Keep>
  void add_row(const formats::CsrView& a, const reorder::Division& division, std::int64_t at,
               const Keep& keep) {
    const std::int64_t row = division.row_at(at);
    const auto begin = static_cast<std::size_t>(a.row_ptr[static_cast<std::size_t>(row)]);
    for (const std::int32_t c : a.col_idx.subspan(begin, static_cast<std::size_t>(a.row_nnz(row)))) {
      const std::int64_t place = division.place_of(c);
      if (!keep(place)) continue;
      ++loads_;
      near_.load(static_cast<std::int32_t>(place));
      far_.load(static_cast<std::int32_t>(place));
    }
  }

  [[nodiscard]] RunMisses misses() const {
    const auto loads = static_cast<double>(loads_);
    return {loads, loads * near_.share(), loads * far_.share()};
  }

 private:
  explicit LoadRun(double slice_bytes) : near_(kNearBytes / slice_bytes), far_(kFarBytes / slice_bytes) {}

  MissCounter near_, far_;
  std::int64_t loads_ = 0;
};

ProductWork extrapolated(const RunMisses& found, std::int64_t entries, std::int64_t outputs) {
  const double scale = found.loads > 0 ? static_cast<double>(entries) / found.loads : 0;
  return {entries, outputs, scale * found.near, scale * found.far};
}

// Divides positions [first, last) among runs.
void add_runs(std::vector<RunOfRows>& runs, std::size_t product, std::int64_t first, std::int64_t last,
              std::int64_t entries, std::int64_t most) {
  const std::int64_t count = std::clamp(entries / kRunLoads, std::int64_t{1}, most);
  for (std::int64_t i = 0; i < count; ++i)
    runs.push_back({product, first + (last - first) * i / count, first + (last - first) * (i + 1) / count});
}

class Estimator {
 public:
  Estimator(const RowSource& source, const reorder::Division& division, std::int64_t row_bytes)
      : source_(source), whole_{{0, division.rows()}}, division_(division), row_bytes_(row_bytes) {}

  // Returns the misses of local products, by part, and of the entire one, which is the last.
  [[nodiscard]] std::vector<RunMisses> products(const Survey& survey) const {
    const std::int32_t parts = division_.parts();
    std::vector<RunOfRows> runs;
    const std::int64_t most = std::max(kRuns / parts, std::int64_t{1});
    for (std::int32_t part = 0; part < parts; ++part)
      add_runs(runs, static_cast<std::size_t>(part), division_.first(part), division_.last(part),
               survey.parts[static_cast<std::size_t>(part)].local_entries, most);
    add_runs(runs, survey.parts.size(), 0, division_.rows(), totals_of(survey.parts).entries, kRuns);
    std::vector<RunMisses> found(runs.size());
    parallel::loop(std::size_t{0}, runs.size(), [&](std::size_t i) { found[i] = misses(runs[i]); });
    std::vector<RunMisses> sums(survey.parts.size() + 1);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      RunMisses& sum = sums[runs[i].product];
      sum = {sum.loads + found[i].loads, sum.near + found[i].near, sum.far + found[i].far};
    }
    return sums;
  }

  // Returns the misses of a halo product: of its first run.
  [[nodiscard]] RunMisses halo(std::int32_t part, const PlaceSet& boundary) const {
    const std::int64_t first = division_.first(part), last = division_.last(part);
    LoadRun run(row_bytes_);
    std::int64_t released = first;
    boundary.each(first, last, [&](std::int64_t at) {
      if (run.full()) return;
      run.add_row(source_.a, division_, at, [&](std::int64_t c) { return c < first || c >= last; });
      released = release(division_, released, at + 1, false);
    });
    release(division_, released, last, true);
    return run.misses();
  }

 private:
  // Releases rows [first, last) if they are many or the last ones. Returns the first row that is not
  // released.
  std::int64_t release(const reorder::Division& division, std::int64_t first, std::int64_t last,
                       bool is_end) const {
    if (!division.in_order()) return first;
    const auto at = [&](std::int64_t row) { return source_.a.row_ptr[static_cast<std::size_t>(row)]; };
    if (!is_end && at(last) - at(first) < kReleasedLoads) return first;
    source_.done_with(first, last);
    return last;
  }

  [[nodiscard]] RunMisses misses(const RunOfRows& rows) const {
    const bool local = rows.product < static_cast<std::size_t>(division_.parts());
    const reorder::Division& division = local ? division_ : whole_;
    const auto part = static_cast<std::int32_t>(local ? rows.product : 0);
    const std::int64_t first = division.first(part), last = division.last(part);
    LoadRun run(row_bytes_);
    std::int64_t released = rows.first;
    for (std::int64_t at = rows.first; at < rows.last && !run.full(); ++at) {
      run.add_row(source_.a, division, at, [&](std::int64_t c) { return c >= first && c < last; });
      released = release(division, released, at + 1, at + 1 == rows.last || run.full());
    }
    return run.misses();
  }

  const RowSource& source_;
  reorder::Division whole_;
  const reorder::Division& division_;
  std::int64_t row_bytes_;
};

}  // namespace

StepWork work_of_step(const RowSource& source, const reorder::Division& division, const Survey& survey,
                      std::int64_t row_bytes) {
  const Estimator estimator(source, division, row_bytes);
  const std::vector<RunMisses> products = estimator.products(survey);
  StepWork step;
  step.one = extrapolated(products.back(), totals_of(survey.parts).entries, division.rows());
  step.parts.resize(survey.parts.size());
  parallel::loop(std::size_t{0}, step.parts.size(), [&](std::size_t p) {
    const auto part = static_cast<std::int32_t>(p);
    const PartCounts& counts = survey.parts[p];
    const std::int64_t boundary = survey.boundary.count(division.first(part), division.last(part));
    step.parts[p] = {extrapolated(products[p], counts.local_entries, counts.rows),
                     extrapolated(estimator.halo(part, survey.boundary), counts.halo_entries, 2 * boundary)};
  });
  return step;
}

}  // namespace sptile::tools
