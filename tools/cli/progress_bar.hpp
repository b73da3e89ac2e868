// Shows how far a Progress is: one line on stderr that repaints itself, with the time left.
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

/// Formats one state: "read  [=======         ]  42%  12 s left", in less than `width` columns: long phases
/// lose their middle, narrow terminals the bar, so that percent and time always show. Without a total it
/// shows the count; without a phase nothing.
std::string progress_line(const std::string& phase, std::int64_t done, std::int64_t total, double seconds,
                          int width);

/// Returns whether a bar may be painted: stderr is a terminal that can move its cursor.
bool stderr_is_terminal();

/// Draws `progress`, or for a job of several steps "3 of 12: read  [===      ]  25%  2 min 5 s left", ten
/// times a second from a separate thread until destruction. Work of less than 0.3 s draws nothing.
class ProgressBar {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit ProgressBar(const Progress& progress);
  /// Starts no thread: only paint_at() draws.
  ProgressBar(const Progress& progress, Time start);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Stops drawing and clears the line; further calls do nothing. The destructor calls it.
  void finish();

  /// Draws the state at a time.
  void paint_at(Time now);

  /// Prints a line above the bar, at once.
  void print(const std::string& line, std::FILE* to = stderr);

 private:
  void paint_until_stopped();
  void paint(Time now);
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

/// Prints a line at once, above the bar when there is one (`bar` may be null).
void print_line(ProgressBar* bar, const std::string& line, std::FILE* to = stderr);

}  // namespace sptile::tools
