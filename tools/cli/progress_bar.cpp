#include "tools/cli/progress_bar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "tools/cli/output.hpp"
#include "tools/cli/terminal.hpp"
#include "tools/cli/text_layout.hpp"
#include "tools/pipeline/units.hpp"

namespace sptile::tools {
namespace {
using namespace std::chrono_literals;
constexpr std::string_view kClearLine = "\r\033[K";

// Estimates are rounded to full units.
std::string coarse_seconds(double seconds) {
  return seconds < 1    ? "less than 1 s"
         : seconds < 60 ? fmt::format("{:.0f} s", seconds)
                        : human_seconds(seconds);
}

// Returns the phase of a job with its share, for example "read 42%".
std::string phase_share(const std::string& phase, std::int64_t done, std::int64_t total) {
  if (total <= 0) return phase;
  return fmt::format("{} {:.0f}%", phase,
                     100 * std::min(1.0, static_cast<double>(done) / static_cast<double>(total)));
}

// Width of the longest estimate, so that the bar does not jump when the remaining time gets shorter.
constexpr int kPercentAndTime = 5 + 20;
constexpr int kMinCells = 10, kMaxCells = 40, kMinLabel = 10;
}  // namespace

std::string progress_line(const std::string& phase, std::int64_t done, std::int64_t total, double seconds,
                          int width) {
  if (phase.empty()) return {};
  const int space = std::max(width - 1, 0);
  if (total <= 0) return shorten(done > 0 ? fmt::format("{:<{}} {}", phase, kMinLabel, done) : phase, space);
  const double share = std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0);
  const std::string left =
      share > 0.01 ? fmt::format("  {} left", coarse_seconds(seconds * (1 - share) / share)) : "";
  const std::string percent = fmt::format(" {:3.0f}%{}", 100 * share, left);
  // The label is shortened in favor of a short bar; if that does not suffice, the bar is omitted.
  const int available = space - kPercentAndTime - 3;  // " [", "]"
  const int label_width = std::max(available - kMinCells, 0);
  if (label_width < kMinLabel)
    return shorten(shorten(phase, std::max(space - display_width(percent), 1)) + percent, space);
  std::string label = shorten(phase, label_width);
  label.append(static_cast<std::size_t>(std::max(kMinLabel - display_width(label), 0)), ' ');
  const int cells = std::min(available - display_width(label), kMaxCells);
  const int full = static_cast<int>(share * cells);
  return fmt::format("{} [{:=<{}}{: <{}}]{}", label, "", full, "", cells - full, percent);
}

bool stderr_is_terminal() { return is_capable_terminal(stderr); }

ProgressBar::ProgressBar(const Progress& progress, Time start) : progress_(progress), last_look_(start) {}

ProgressBar::ProgressBar(const Progress& progress) : ProgressBar(progress, std::chrono::steady_clock::now()) {
  painter_ = std::thread([this] { draw_until_stopped(); });
}

ProgressBar::~ProgressBar() { finish(); }

void ProgressBar::finish() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  if (painter_.joinable()) painter_.join();
  clear();
}

void ProgressBar::draw_at(Time now) {
  const std::lock_guard lock(mutex_);
  draw(now);
}

void ProgressBar::draw_until_stopped() {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, 300ms, [this] { return stop_; });
  while (!stop_) {
    draw(std::chrono::steady_clock::now());
    wake_.wait_for(lock, 100ms, [this] { return stop_; });
  }
}

void ProgressBar::draw(Time now) {
  const std::string phase = progress_.phase.load();
  const std::int64_t done = progress_.done.load();
  if (phase != phase_ || done < done_) phase_start_ = last_look_;  // the phase began after the last update
  phase_ = phase;
  done_ = done;
  last_look_ = now;
  const auto since = [now](auto start) { return std::chrono::duration<double>(now - start).count(); };
  const int width = terminal_columns(stderr).value_or(kUsualColumns);
  const std::int64_t steps = progress_.steps.load(), steps_done = progress_.steps_done.load();
  if (steps == 0) job_start_ = now;
  const std::int64_t total = progress_.total.load();
  const std::string line =
      steps > 0
          ? progress_line(fmt::format("{} of {}: {}", steps_done, steps, phase_share(phase_, done, total)),
                          steps_done, steps, since(job_start_), width)
          : progress_line(phase_, done, total, since(phase_start_), width);
  if (line.empty()) return;
  write_control(stderr, kClearLine);
  write_text(stderr, line);
  painted_ = true;
}

void ProgressBar::clear() {
  if (painted_) write_control(stderr, kClearLine);
  painted_ = false;
}

void ProgressBar::print(const std::string& line, std::FILE* to) {
  const std::lock_guard lock(mutex_);
  clear();
  print_line(nullptr, line, to);
}

void print_line(ProgressBar* bar, const std::string& line, std::FILE* to) {
  if (bar != nullptr) return bar->print(line, to);
  write_text(to, line + "\n");
  std::fflush(to);
}

}  // namespace sptile::tools
