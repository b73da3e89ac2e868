// Times the conversion from CSR to every format: one JSON object per matrix on stdout.
//
//   convert_bench ROUNDS THREADS[,THREADS...] MATRIX.mtx...
//
// The best round counts. CPU seconds are less affected by other processes.
#include <tbb/global_control.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "formats/convert/converters.hpp"
#include "formats/io/matrix_market/matrix_market.hpp"
#include "tools/pipeline/stopwatch.hpp"

namespace {

using namespace sptile;
using Json = nlohmann::ordered_json;

double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Timing {
  int threads;
  double seconds, cpu_seconds;
};

/// Converts `rounds` times; stores the last result in `data`.
Result<Timing> time_conversion(const formats::Converter& converter, const formats::CsrView& a, int threads,
                               int rounds, formats::FormatData& data) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(threads));
  Timing best{threads, 1e300, 1e300};
  for (int i = 0; i < rounds; ++i) {
    const tools::Stopwatch watch;
    const double cpu = cpu_seconds();
    auto converted = converter.from_csr(a, nullptr);
    if (!converted) return tl::unexpected(converted.error());
    best.seconds = std::min(best.seconds, watch.seconds());
    best.cpu_seconds = std::min(best.cpu_seconds, cpu_seconds() - cpu);
    data = std::move(*converted);
  }
  return best;
}

Json describe(const Parameters& parameters) {
  Json out = Json::object();
  for (const auto& [name, value] : parameters)
    value.visit([&out, &key = name](const auto& x) { out[key] = x; });
  return out;
}

Result<Json> measure(const formats::Converter& converter, const formats::CsrView& a, int rounds,
                     const std::vector<int>& thread_counts) {
  const auto nnz = static_cast<double>(std::max<std::int64_t>(a.nnz(), 1));
  formats::FormatData data;
  Json runs = Json::array();
  for (const int threads : thread_counts) {
    const auto timing = time_conversion(converter, a, threads, rounds, data);
    if (!timing) return tl::unexpected(timing.error());
    runs.push_back({{"threads", threads},
                    {"seconds", timing->seconds},
                    {"entries_per_second", nnz / timing->seconds},
                    {"entries_per_cpu_second", nnz / timing->cpu_seconds}});
  }
  const formats::FormatView view = data.view();
  return Json{{"format", converter.format},
              {"tc_blocks", view.layout->tc_blocks(view)},
              {"index_bytes", formats::index_bytes(view)},
              {"index_bytes_per_entry", static_cast<double>(formats::index_bytes(view)) / nnz},
              {"runs", runs},
              {"parameters", describe(data.parameters)}};
}

Status run_matrix(const std::string& path, int rounds, const std::vector<int>& thread_counts) {
  auto matrix = formats::read_matrix_market(path);
  if (!matrix) return tl::unexpected(matrix.error());
  const formats::CsrView a = matrix->csr.view();
  Json out = {{"matrix", path.substr(path.rfind('/') + 1)},
              {"rows", a.rows},
              {"cols", a.cols},
              {"nnz", a.nnz()},
              {"value_type", name_of(a.values.dtype)}};
  for (const formats::Converter& converter : formats::converters()) {
    auto row = measure(converter, a, rounds, thread_counts);
    if (!row) return tl::unexpected(row.error());
    out["formats"].push_back(std::move(*row));
  }
  std::cout << out << std::endl;
  return {};
}

std::vector<int> parse_counts(const std::string& list) {
  std::vector<int> counts;
  std::istringstream words(list);
  for (std::string word; std::getline(words, word, ',');) counts.push_back(std::atoi(word.c_str()));
  return counts;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 3 ? std::atoi(argv[1]) : 0;
  const std::vector<int> thread_counts = parse_counts(argc > 3 ? argv[2] : "0");
  if (rounds < 1 || std::any_of(thread_counts.begin(), thread_counts.end(), [](int n) { return n < 1; })) {
    std::cerr << "usage: convert_bench ROUNDS THREADS[,THREADS...] MATRIX.mtx...\n";
    return static_cast<int>(Errc::usage);
  }
  for (int i = 3; i < argc; ++i)
    if (const Status s = run_matrix(argv[i], rounds, thread_counts); !s) {
      std::cerr << s.error().text() << '\n';
      return static_cast<int>(s.error().code);
    }
  return 0;
}
