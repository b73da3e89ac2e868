// Web pages: sites of 400 pages, link lists common to 24 consecutive pages, and hubs.
#include <algorithm>
#include <cmath>

#include "tools/gen/drawn_rows.hpp"
#include "tools/gen/kinds.hpp"
#include "tools/gen/replicas/replica.hpp"

namespace sptile::tools::gen {
namespace {
constexpr std::int64_t kSite = 400, kTemplate = 24, kMaxLinks = 200;

constexpr ArgumentSpec kArguments[] = {replica_rows(685230)};

// The links of one page.
struct Page {
  std::int64_t row, rows;
  DrawnColumns& columns;

  [[nodiscard]] std::int64_t site() const { return row / kSite * kSite; }
  void add(std::int64_t column) {
    if (column >= 0 && column < rows) columns.push_back(static_cast<std::int32_t>(column));
  }

  // Copies 85 % of the links of the page's template.
  void add_template(ReplicaStream& random) {
    ReplicaStream shared = vertex_stream(row / kTemplate, 101, 9);
    const auto drawn = static_cast<std::int64_t>(std::exp(1.83 + shared.normal(0.85)));
    for (std::int64_t i = 0; i < std::min(drawn, kMaxLinks); ++i) {
      const bool within = shared.uniform() < 0.82;
      const double target =
          within ? shared.low(kSite) : static_cast<double>(rows) * std::pow(shared.uniform(), 4.0);
      if (random.uniform() < 0.85) add((within ? site() : 0) + static_cast<std::int64_t>(target));
    }
  }

  void add_own(ReplicaStream& random) {
    const std::int64_t links = 1 + random.below(7);
    for (std::int64_t i = 0; i < links; ++i)
      add(random.uniform() < 0.75 ? row - 30 + random.below(60) : site() + random.below(kSite));
  }
};

Result<formats::Csr> make_web(const Parameters& arguments, std::uint64_t seed, Progress* progress) {
  const std::int64_t rows = integer_argument(arguments, "rows");
  const auto draw = [=](std::int64_t r, DrawnColumns& columns) {
    ReplicaStream random = row_stream(replica_seed(18, seed), r);
    Page page{r, rows, columns};
    page.add_template(random);
    page.add_own(random);
  };
  return csr_by_drawn_rows(rows, rows, draw, progress);
}
}  // namespace

const Generator kWebBerkstanLike =
    replica("web-berkstan-like", "Replica of web-BerkStan: sites, common link lists and hubs", "--rows 2000",
            kArguments, make_web);

}  // namespace sptile::tools::gen
