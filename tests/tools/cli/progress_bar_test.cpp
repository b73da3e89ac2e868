#include "tools/cli/progress_bar.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>

#include "tests/temporary_folder.hpp"

using namespace sptile::tools;
using namespace std::chrono_literals;

namespace {

constexpr ProgressBar::Time kStart;

/// Redirects stderr to a file.
class StderrFile {
 public:
  StderrFile()
      : file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600)), saved_(::dup(STDERR_FILENO)) {
    REQUIRE(::dup2(file_, STDERR_FILENO) >= 0);
  }
  StderrFile(const StderrFile&) = delete;
  StderrFile& operator=(const StderrFile&) = delete;
  ~StderrFile() {
    ::dup2(saved_, STDERR_FILENO);
    ::close(saved_);
    ::close(file_);
  }

  [[nodiscard]] std::string text() const {
    std::ifstream in(path_);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  sptile::TemporaryFolder folder_;
  std::string path_ = folder_ / "stderr";
  int file_, saved_;
};

}  // namespace

TEST_CASE("a phase with a total shows its share and the time left") {
  CHECK(progress_line("read", 50, 100, 2.0, 80) ==
        "read       [====================                    ]  50%  2 s left");
  CHECK(progress_line("read", 100, 100, 2.0, 60) ==
        "read       [=====================] 100%  less than 1 s left");
}

TEST_CASE("whatever the label and the width, percent and time are never cut off") {
  const std::string label =
      "31 of 480: a_matrix_with_quite_a_long_name.mtx, pack:thorough, libra_sddmm:16, N = 128";
  for (int width = 30; width <= 240; ++width)
    for (const double seconds : {0.001, 59.0, 3599.0, 360000.0}) {
      const std::string line = progress_line(label, 1, 2, seconds, width);
      CAPTURE(line);
      CHECK(static_cast<int>(line.size()) < width);
      CHECK(line.find(" 50%  ") != std::string::npos);
      CHECK(line.ends_with(" left"));
      CHECK(line.starts_with("3"));
      CHECK((line.find('[') != std::string::npos) == (width >= 49));
    }
  CHECK(progress_line(label, 1, 2, 3, 160).starts_with(label + " [="));
  CHECK(progress_line(label, 1, 2, 3, 80) ==
        "31 of 480: a_matrix...a_sddmm:16, N = 128 [=====     ]  50%  3 s left");
}

TEST_CASE("a phase without a total shows the count, or just its name") {
  CHECK(progress_line("inflate", 17, 0, 1, 80) == "inflate    17");
  CHECK(progress_line("commit", 0, 0, 1, 80) == "commit");
  CHECK(progress_line("", 0, 0, 1, 80).empty());
}

TEST_CASE("counts beyond the total and narrow terminals do no harm") {
  CHECK(progress_line("read", 500, 100, 2.0, 80).find("100%") != std::string::npos);
  CHECK(progress_line("read", 50, 100, 2.0, 12).size() == 11);
  CHECK(progress_line("read", 50, 100, 2.0, 0).empty());
}

TEST_CASE("a bar without a phase writes only the printed lines, however often it is finished") {
  const StderrFile written;
  const sptile::Progress progress;
  ProgressBar bar(progress, {});
  bar.draw_at(kStart + 600ms);
  bar.print("a note");
  bar.finish();
  bar.finish();
  CHECK(written.text() == "a note\n");
}

TEST_CASE("a bar shows its phase, keeps lines above it, and leaves an empty line") {
  const StderrFile written;
  sptile::Progress progress;
  progress.begin("inflate", 0);
  ProgressBar bar(progress, {});
  bar.draw_at(kStart + 300ms);
  bar.print("a note");
  bar.draw_at(kStart + 400ms);
  bar.finish();
  CHECK(written.text() == "\r\033[Kinflate\r\033[Ka note\n\r\033[Kinflate\r\033[K");
}

TEST_CASE("the bar of a job of several steps counts steps and names the phase") {
  const StderrFile written;
  sptile::Progress progress;
  progress.begin("inflate", 0);
  ProgressBar bar(progress, {});
  bar.draw_at(kStart + 1s);
  progress.steps = 12;
  progress.steps_done = 3;
  bar.draw_at(kStart + 2s);
  CHECK(written.text().find("\033[K3 of 12: inflate [=====") != std::string::npos);
  CHECK(written.text().ends_with("]  25%  3 s left"));
  progress.begin("read", 8);
  progress.done = 2;
  bar.draw_at(kStart + 25s);
  CHECK(written.text().find("\033[K3 of 12: read 25% [====") != std::string::npos);
  CHECK(written.text().ends_with("]  25%  72.0 s left"));
}
