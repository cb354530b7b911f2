// JSON, as much as the benchmark writes.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

namespace benchmark {

// A JSON document, written from its start to its end. Numbers that are none become null.
class json_writer {
 public:
  explicit json_writer(FILE* file) : file_(file) {}

  void begin(char const* name, char bracket) {
    item(name);
    std::fputc(bracket, file_);
    first_ = true;
    ++depth_;
  }
  void end(char bracket) {
    --depth_;
    line();
    std::fputc(bracket, file_);
    first_ = false;
  }
  void number(char const* name, double value) {
    item(name);
    std::isfinite(value) ? std::fprintf(file_, "%.6g", value) : std::fputs("null", file_);
  }
  void integer(char const* name, std::int64_t value) {
    item(name);
    std::fprintf(file_, "%lld", static_cast<long long>(value));
  }
  void boolean(char const* name, bool value) {
    item(name);
    std::fputs(value ? "true" : "false", file_);
  }
  void text(char const* name, std::string const& value) {
    item(name);
    quoted(value);
  }

 private:
  void line() {
    std::fputc('\n', file_);
    for (int i = 0; i < depth_; ++i) std::fputc(' ', file_);
  }
  void item(char const* name) {
    if (!first_) std::fputc(',', file_);
    if (depth_ > 0) line();
    first_ = false;
    if (name == nullptr) return;
    quoted(name);
    std::fputs(": ", file_);
  }
  void quoted(std::string const& value) {
    std::fputc('"', file_);
    for (char const c : value) {
      if (c == '"' || c == '\\') std::fputc('\\', file_);
      std::fputc(static_cast<unsigned char>(c) < 0x20 ? ' ' : c, file_);
    }
    std::fputc('"', file_);
  }

  FILE* file_;
  int depth_ = 0;
  bool first_ = true;
};

}  // namespace benchmark
