#include "tools/progress_bar.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tools/units.hpp"

namespace sptile::tools {
namespace {
using namespace std::chrono_literals;
constexpr std::string_view kClearLine = "\r\033[K";

// Guesses do not deserve fractions.
std::string coarse_seconds(double seconds) {
  return seconds < 1    ? "less than 1 s"
         : seconds < 60 ? fmt::format("{:.0f} s", seconds)
                        : human_seconds(seconds);
}

int terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}
}  // namespace

std::string progress_line(const std::string& phase, std::int64_t done, std::int64_t total, double seconds,
                          int width) {
  if (phase.empty()) return {};
  std::string line;
  if (total <= 0) {
    line = done > 0 ? fmt::format("{:<10} {}", phase, done) : phase;
  } else {
    const double share = std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0);
    const std::string left =
        share > 0.01 ? fmt::format("  {} left", coarse_seconds(seconds * (1 - share) / share)) : "";
    const int cells = std::clamp(width - 40, 10, 40);
    const int full = static_cast<int>(share * cells);
    line = fmt::format("{:<10} [{:=<{}}{: <{}}] {:3.0f}%{}", phase, "", full, "", cells - full, 100 * share,
                       left);
  }
  return line.substr(0, static_cast<std::size_t>(std::max(width - 1, 0)));
}

bool stderr_is_terminal() {
  const char* const terminal = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && (terminal == nullptr || std::string_view(terminal) != "dumb");
}

ProgressBar::ProgressBar(const Progress& progress)
    : progress_(progress),
      phase_start_(std::chrono::steady_clock::now()),
      painter_([this] { paint_until_stopped(); }) {}

ProgressBar::~ProgressBar() { finish(); }

void ProgressBar::finish() {
  if (!painter_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  painter_.join();
  clear();
}

void ProgressBar::paint_until_stopped() {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, 300ms, [this] { return stop_; });
  while (!stop_) {
    paint();
    wake_.wait_for(lock, 100ms, [this] { return stop_; });
  }
}

void ProgressBar::paint() {
  const auto now = std::chrono::steady_clock::now();
  const std::string phase = progress_.phase.load();
  const std::int64_t done = progress_.done.load();
  if (phase != phase_ || done < done_) phase_start_ = last_look_;  // it began after the last look
  phase_ = phase;
  done_ = done;
  last_look_ = now;
  const double seconds = std::chrono::duration<double>(now - phase_start_).count();
  const std::string line = progress_line(phase_, done, progress_.total.load(), seconds, terminal_width());
  if (line.empty()) return;
  std::fputs((std::string(kClearLine) + line).c_str(), stderr);
  std::fflush(stderr);
  painted_ = true;
}

void ProgressBar::clear() {
  if (painted_) std::fputs(std::string(kClearLine).c_str(), stderr);
  painted_ = false;
}

void ProgressBar::print(const std::string& line, std::FILE* to) {
  const std::lock_guard lock(mutex_);
  clear();
  print_line(nullptr, line, to);
}

void print_line(ProgressBar* bar, const std::string& line, std::FILE* to) {
  if (bar != nullptr) return bar->print(line, to);
  std::fputs((line + "\n").c_str(), to);
  std::fflush(to);
}

}  // namespace sptile::tools
