// Times row orderings and counts the resulting tiles: one JSON object per matrix and method on stdout.
//
//   reorder_bench [--threads N] [--height H] METHOD[:PRESET][,NAME=VALUE...] ... -- MATRIX.mtx...
//
// All methods of a matrix run in one process, after a warm-up run of `degree`, so that their times are
// comparable.
#include <tbb/global_control.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "formats/core/csr.hpp"
#include "formats/io/matrix_market/matrix_market.hpp"
#include "reorder/quality/quality.hpp"
#include "reorder/registry.hpp"
#include "tools/pipeline/stopwatch.hpp"

namespace {

using namespace sptile;
using Json = nlohmann::ordered_json;

/// A method and its settings, from one word of the command line.
struct Task {
  std::string words;
  const reorder::Reorderer* method = nullptr;
  std::vector<reorder::Setting> settings;
};

[[noreturn]] void stop(const std::string& why) {
  std::cerr << "reorder_bench: " << why << '\n';
  std::exit(2);
}

/// Removes and returns the text before `mark`, and removes the mark; returns all of it if there is none.
std::string_view take_until(std::string_view& text, char mark) {
  const std::size_t end = std::min(text.find(mark), text.size());
  const std::string_view head = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return head;
}

Task parse_task(std::string_view words) {
  Task task{std::string(words), nullptr, {}};
  std::string_view rest = words, head = take_until(rest, ',');
  task.method = reorder::find_reorderer(take_until(head, ':'));
  if (task.method == nullptr) stop("unknown method in " + task.words);
  for (const reorder::Preset& preset : task.method->presets)
    if (preset.name == head) task.settings.assign(preset.settings.begin(), preset.settings.end());
  while (!rest.empty()) {
    std::string_view value = take_until(rest, ',');
    const std::string_view name = take_until(value, '=');
    task.settings.push_back({name, std::strtod(std::string(value).c_str(), nullptr)});
  }
  if (const Status fits = reorder::check_settings(*task.method, task.settings); !fits)
    stop(fits.error().text());
  return task;
}

double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Json measure(const Task& task, const formats::CsrView& a, int height) {
  const tools::Stopwatch watch;
  const double cpu = cpu_seconds();
  const auto order = task.method->run(a, {.seed = 1, .window_rows = height, .settings = task.settings});
  if (!order) return {{"method", task.words}, {"error", order.error().text()}};
  Json row = {{"method", task.words}, {"seconds", watch.seconds()}, {"cpu_seconds", cpu_seconds() - cpu}};
  if (const Status fits = formats::check_permutation(*order, a.rows); !fits)
    row["error"] = fits.error().text();
  for (const reorder::WindowQuality& q : reorder::measure_quality(a, *order)) {
    const std::string at = std::to_string(q.window_rows);
    if (q.window_rows <= 16) row["m" + at] = q.mean_nnz_tc;
    if (q.window_rows >= 64) row["columns" + at] = q.distinct_columns;
  }
  return row;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  std::size_t threads = 0;
  int height = 8;
  while (words.size() > 1 && words.front().starts_with("--") && words.front() != "--") {
    const int value = std::atoi(words[1].c_str());
    if (words.front() == "--threads")
      threads = static_cast<std::size_t>(value);
    else if (words.front() == "--height")
      height = value;
    else
      stop("unknown option " + words.front());
    words.erase(words.begin(), words.begin() + 2);
  }
  const auto mark = std::find(words.begin(), words.end(), "--");
  if (mark == words.end()) stop("use: [--threads N] [--height H] METHOD... -- MATRIX.mtx...");
  std::vector<Task> tasks;
  std::transform(words.begin(), mark, std::back_inserter(tasks), parse_task);
  const tbb::global_control limit(
      tbb::global_control::max_allowed_parallelism,
      threads > 0 ? threads
                  : tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism));
  for (auto file = mark + 1; file != words.end(); ++file) {
    const auto matrix = formats::read_matrix_market(*file, {});
    if (!matrix) stop(matrix.error().text());
    const formats::CsrView a = matrix->csr.view();
    measure(parse_task("degree"), a, height);
    for (const Task& task : tasks) {
      Json row = {{"file", file->substr(file->rfind('/') + 1)}, {"nnz", a.nnz()}, {"threads", threads}};
      row.update(measure(task, a, height));
      std::cout << row.dump() << std::endl;
    }
  }
}
