// Times SpMM in every format against Eigen, in one process, in turns: one JSON object per matrix on stdout.
//   spmm_bench N THREADS ROUNDS MATRIX.mtx...
// A and B are random f32; every result is compared with the reference first. Eigen takes part when it was
// there at configure time.
#include <tbb/global_control.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "formats/convert/converters.hpp"
#include "formats/io/matrix_market.hpp"
#include "formats/random.hpp"
#include "runtime/plan/spmm.hpp"
#include "runtime/reference/spmm.hpp"
#include "tools/stopwatch.hpp"
#ifdef SPTILE_BENCH_EIGEN
#include "tools/bench/eigen_spmm.hpp"
#endif

namespace {

using namespace sptile;
using Json = nlohmann::ordered_json;

struct Settings {
  std::int64_t n = 0;
  int threads = 0, rounds = 0;
};

/// One way to compute the product.
struct Contender {
  std::string name;
  std::function<Status(const float* b, float* c)> run;
  Json facts = Json::object();
  double rel_err = 0;
  std::vector<double> seconds;
};

formats::Buffer<float> random_floats(std::int64_t size, std::uint64_t seed) {
  formats::Buffer<float> numbers(size);
  RandomStream random(seed);
  for (float& x : numbers) x = random.signed_unit();
  return numbers;
}

/// The matrix's structure with random values, so that patterns and weighted matrices compare.
Result<formats::Csr> read_structure(const std::string& path) {
  auto matrix = formats::read_matrix_market(path);
  if (!matrix) return tl::unexpected(matrix.error());
  matrix->csr.values = formats::Array(random_floats(matrix->csr.nnz(), 1));
  return std::move(matrix->csr);
}

Result<Contender> sptile_contender(const formats::Converter& converter, const formats::Csr& a,
                                   const Settings& settings) {
  auto data = converter.from_csr(a.view(), nullptr);
  if (!data) return tl::unexpected(data.error());
  auto owner = std::make_shared<formats::FormatData>(std::move(*data));
  const tools::Stopwatch watch;
  auto plan =
      runtime::plan_spmm({owner->view(), {}, {}, owner}, {.n = settings.n, .threads = settings.threads});
  if (!plan) return tl::unexpected(plan.error());
  Contender contender;
  contender.name = converter.format;
  contender.facts = {{"kernel", runtime::kernel_name(**plan)}, {"plan_us", watch.seconds() * 1e6}};
  contender.run = [plan = *plan, n = settings.n](const float* b, float* c) {
    return runtime::run(*plan, runtime::SpmmOperands{b, n, c, n});
  };
  return contender;
}

#ifdef SPTILE_BENCH_EIGEN
Contender eigen_contender(const formats::Csr& a, const Settings& settings) {
  auto row_ptr = std::make_shared<std::vector<std::int32_t>>(a.row_ptr.begin(), a.row_ptr.end());
  Contender contender;
  contender.name = "eigen";
  contender.run = [&a, row_ptr, settings](const float* b, float* c) -> Status {
    bench::eigen_spmm(static_cast<int>(a.rows), static_cast<int>(a.cols), row_ptr->data(), a.col_idx.data(),
                      a.values.as<float>().data(), static_cast<int>(settings.n), b, c, settings.threads);
    return {};
  };
  return contender;
}
#endif

Result<std::vector<Contender>> contenders(const formats::Csr& a, const Settings& settings) {
  std::vector<Contender> all;
  for (const formats::Converter& converter : formats::converters()) {
    auto one = sptile_contender(converter, a, settings);
    if (!one) return tl::unexpected(one.error());
    all.push_back(std::move(*one));
  }
#ifdef SPTILE_BENCH_EIGEN
  all.push_back(eigen_contender(a, settings));
#endif
  return all;
}

double median(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return (seconds[seconds.size() / 2] + seconds[(seconds.size() - 1) / 2]) / 2;
}

/// Verifies, warms up, then lets the contenders take turns.
Status measure(std::vector<Contender>& all, const formats::Csr& a, const Settings& settings) {
  const formats::Buffer<float> b = random_floats(a.cols * settings.n, 2);
  formats::Buffer<float> c(a.rows * settings.n);
  const double tolerance = runtime::tolerated_error(a.view(), DType::f32);
  for (Contender& contender : all) {
    std::fill(c.begin(), c.end(), 1e30F);
    if (Status s = contender.run(b.data(), c.data()); !s) return s;
    contender.rel_err = runtime::relative_error(a.view(), settings.n, DType::f32,
                                                {b.data(), settings.n, c.data(), settings.n});
    if (!(contender.rel_err <= tolerance))
      return fail(Errc::check_failed,
                  contender.name + ": relative error " + std::to_string(contender.rel_err));
  }
  for (int round = 0; round < settings.rounds; ++round)
    for (Contender& contender : all) {
      const tools::Stopwatch watch;
      if (Status s = contender.run(b.data(), c.data()); !s) return s;
      contender.seconds.push_back(watch.seconds());
    }
  return {};
}

Json report(const std::vector<Contender>& all, const formats::Csr& a, const std::string& path,
            const Settings& settings) {
  const double csr = median(all.front().seconds);  // converters() lists csr first
  Json out = {{"matrix", path.substr(path.rfind('/') + 1)},
              {"rows", a.rows},
              {"cols", a.cols},
              {"nnz", a.nnz()},
              {"n", settings.n},
              {"threads", settings.threads}};
  for (const Contender& contender : all) {
    const double middle = median(contender.seconds);
    Json row = {{"impl", contender.name},
                {"median_us", middle * 1e6},
                {"best_us", *std::min_element(contender.seconds.begin(), contender.seconds.end()) * 1e6},
                {"gflops", 2e-9 * static_cast<double>(a.nnz() * settings.n) / middle},
                {"time_over_csr", middle / csr},
                {"rel_err", contender.rel_err}};
    row.update(contender.facts);
    out["results"].push_back(row);
  }
  return out;
}

Status run_matrix(const std::string& path, const Settings& settings) {
  const auto a = read_structure(path);
  if (!a) return tl::unexpected(a.error());
  auto all = contenders(*a, settings);
  if (!all) return tl::unexpected(all.error());
  if (Status s = measure(*all, *a, settings); !s) return s;
  std::cout << report(*all, *a, path, settings) << std::endl;
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  if (argc > 4) settings = {std::atoll(argv[1]), std::atoi(argv[2]), std::atoi(argv[3])};
  if (settings.n < 1 || settings.threads < 1 || settings.rounds < 1) {
    std::cerr << "usage: spmm_bench N THREADS ROUNDS MATRIX.mtx...\n";
    return static_cast<int>(Errc::usage);
  }
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(settings.threads));
  for (int i = 4; i < argc; ++i)
    if (Status s = run_matrix(argv[i], settings); !s) {
      std::cerr << s.error().text() << '\n';
      return static_cast<int>(s.error().code);
    }
  return 0;
}
