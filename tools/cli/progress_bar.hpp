// Progress bar: one line on stderr with the remaining time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

#include "formats/core/progress.hpp"

namespace sptile::tools {

/// Formats one state, such as "read  [=======         ]  42%  12 s left", in less than `width` columns. Long
/// phases are shortened in the middle and narrow terminals omit the bar, so that percentage and time are
/// always visible. Prints the count if there is no total, and nothing without a phase.
std::string progress_line(const std::string& phase, std::int64_t done, std::int64_t total, double seconds,
                          int width);

/// Returns whether a bar may be drawn: stderr is a terminal that can move its cursor.
bool stderr_is_terminal();

/// Draws `progress`, for a job of many steps as "3 of 12: read  [===      ]  25%  2 min 5 s left", ten times
/// per second from a separate thread, from construction to destruction. Short work finishes before the first
/// drawing.
class ProgressBar {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit ProgressBar(const Progress& progress);
  /// Starts no thread: only draw_at() draws.
  ProgressBar(const Progress& progress, Time start);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Stops drawing and clears the line. Further calls have no effect. The destructor calls it.
  void finish();

  /// Draws the state at a time.
  void draw_at(Time now);

  /// Prints a line above the bar immediately.
  void print(const std::string& line, std::FILE* to = stderr);

 private:
  void draw_until_stopped();
  void draw(Time now);
  void clear();

  const Progress& progress_;
  std::string phase_;
  std::int64_t done_ = 0;
  Time last_look_, phase_start_ = last_look_, job_start_ = last_look_;
  bool painted_ = false, stop_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread painter_;
};

/// Prints a line immediately, above the bar if there is one (`bar` may be null).
void print_line(ProgressBar* bar, const std::string& line, std::FILE* to = stderr);

}  // namespace sptile::tools
