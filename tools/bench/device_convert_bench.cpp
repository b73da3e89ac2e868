// Times the conversion from CSR to every format on CUDA device 0, beside the CPU with all its threads: CSV on
// stdout, one row per matrix and format.
//   device_convert_bench ROUNDS VALUES MATRIX...
// VALUES is f32, f16, f64 or pattern. Matrices are raw CSR files (see tools/raw_csr.hpp) or Matrix Market
// files. The median of the rounds counts, after one that does not. `device_seconds` has everything but the
// copy of the CSR matrix to the device: checks, memory, conversion. `same` says whether both gave the same
// bytes.
#include <tbb/info.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "formats/convert/converters.hpp"
#include "formats/io/matrix_market.hpp"
#include "formats/layout/registry.hpp"
#include "tools/device_conversion.hpp"
#include "tools/raw_csr.hpp"
#include "tools/stopwatch.hpp"

namespace {

using namespace sptile;

Result<formats::Csr> read_matrix(const std::string& path, DType values) {
  Result<formats::Csr> csr = tools::read_raw_csr(path);
  if (!csr) {
    auto text = formats::read_matrix_market(path);
    if (!text) return tl::unexpected(text.error());
    csr = std::move(text->csr);
  }
  csr->values = {};
  if (values == DType::none) return csr;
  formats::Array numbers(DType::f32, csr->nnz());
  std::int64_t i = 0;
  for (float& x : numbers.as<float>()) x = static_cast<float>(++i % 1021) - 510;
  csr->values = formats::convert_values(numbers.view(), values);
  return csr;
}

/// Median seconds of f() after one call that does not count.
Result<double> median_seconds(int rounds, const std::function<Status()>& f) {
  std::vector<double> seconds;
  for (int i = -1; i < rounds; ++i) {
    const tools::Stopwatch watch;
    if (Status s = f(); !s) return tl::unexpected(s.error());
    if (i >= 0) seconds.push_back(watch.seconds());
  }
  std::nth_element(seconds.begin(), seconds.begin() + rounds / 2, seconds.end());
  return seconds[static_cast<std::size_t>(rounds / 2)];
}

bool same(const formats::FormatData& x, const formats::FormatData& y) {
  for (std::size_t i = 0; i < x.arrays.size(); ++i) {
    const ArrayView a = x.arrays[i].view(), b = y.arrays[i].view();
    if (a.dtype != b.dtype || a.size != b.size ||
        (a.size > 0 && std::memcmp(a.data, b.data, static_cast<std::size_t>(a.bytes())) != 0))
      return false;
  }
  return x.parameters == y.parameters;
}

Status measure(const std::string& path, const formats::CsrView& a, const runtime::cuda::UploadedCsr& matrix,
               const formats::Converter& converter, int rounds) {
  const formats::FormatLayout& layout = *formats::find_layout(converter.format);
  runtime::cuda::DeviceFormat on_device;
  const auto device = median_seconds(rounds, [&]() -> Status {
    on_device = {};
    auto made = runtime::cuda::convert_on_device(layout, matrix.csr, {}, nullptr);
    if (!made) return tl::unexpected(made.error());
    on_device = std::move(*made);
    return {};
  });
  if (!device) return tl::unexpected(device.error());
  const auto fetched = tools::fetch_format(on_device, 0);
  if (!fetched) return tl::unexpected(fetched.error());
  on_device = {};
  formats::FormatData data;
  const auto cpu = median_seconds(rounds, [&]() -> Status {
    auto made = converter.from_csr(a, nullptr);
    if (!made) return tl::unexpected(made.error());
    data = std::move(*made);
    return {};
  });
  if (!cpu) return tl::unexpected(cpu.error());
  std::printf("%s,%s,%lld,%.6f,%.4g,%.6f,%d,%.2f,%s\n", path.substr(path.rfind('/') + 1).c_str(),
              std::string(converter.format).c_str(), static_cast<long long>(a.nnz()), *device,
              static_cast<double>(a.nnz()) / *device, *cpu, tbb::info::default_concurrency(), *cpu / *device,
              same(data, *fetched) ? "yes" : "no");
  std::fflush(stdout);
  return {};
}

Status run_matrix(const std::string& path, DType values, int rounds) {
  const auto csr = read_matrix(path, values);
  if (!csr) return tl::unexpected(csr.error());
  const auto matrix = runtime::cuda::upload_csr(csr->view(), 0);
  if (!matrix) return tl::unexpected(matrix.error());
  for (const formats::Converter& converter : formats::converters())
    if (Status s = measure(path, csr->view(), *matrix, converter, rounds); !s) return s;
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 3 ? std::atoi(argv[1]) : 0;
  const std::string type = argc > 3 ? argv[2] : "";
  const auto values = value_dtype_from_name(type);
  if (rounds < 1 || (!values && type != "pattern")) {
    std::fprintf(stderr, "usage: device_convert_bench ROUNDS f32|f16|bf16|f64|pattern MATRIX...\n");
    return static_cast<int>(Errc::usage);
  }
  std::printf("matrix,format,entries,device_seconds,entries_per_second,cpu_seconds,cpu_threads,ratio,same\n");
  for (int i = 3; i < argc; ++i)
    if (const Status s = run_matrix(argv[i], values.value_or(DType::none), rounds); !s) {
      std::fprintf(stderr, "%s\n", s.error().text().c_str());
      return static_cast<int>(s.error().code);
    }
  return 0;
}
