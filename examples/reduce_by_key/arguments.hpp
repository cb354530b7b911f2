// The command line.
#pragma once

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace reduce_by_key {

struct arguments {
  std::string folder;
  std::string values;
  std::vector<std::string> rows;
  std::vector<std::string> names;
  std::string column_names;
  std::string level = "all";
  std::string backend = "all";
  int runs = 0;       // 0: 1000 on the GPU, 20 on the host, 2 with several lanes (slow: they test, they do not compute)
  int host_runs = 0;  // 0: as `runs`
  std::vector<int> lanes = {1, 4, 8};
  std::vector<int> threads = {128};
  std::vector<long long> caps = {0};
  bool misalign = false;
  bool quiet_device = false;
  bool require_canary = false;
  int head = 5;
  std::string save;

  bool wants_atomics() const { return level != "gpu_to_gpu"; }
  bool wants_fixed_order() const { return level != "not_guaranteed"; }
  bool wants(std::string const& name) const { return backend == "all" || backend == name; }
  int runs_on_gpu() const { return runs > 0 ? runs : 1000; }
  int runs_on_host(int lanes_of_a_block) const { return host_runs > 0 ? host_runs : runs > 0 ? runs : lanes_of_a_block == 1 ? 20 : 2; }
};

// Fills `into`. Throws CLI::ParseError, also for --help; `app` then says what to print (CLI::App::exit).
inline void parse_arguments(CLI::App& app, arguments& into, int argc, char** argv) {
  app.description("Sums the rows of a table by key, and shows which ways of adding give the same bits each time.");
  app.add_option("folder", into.folder,
                 "short for files in one folder: values.npy, columns.txt, every other KEY.npy as --rows and KEY.txt as its --names (.txt "
                 "where there is one)");
  app.add_option("--values", into.values, ".npy file, float32 or float64: n rows, any number of columns");
  app.add_option("--rows", into.rows,
                 ".npy file, int32 or int64: the key of each of the n rows, from 0; negative: the row is left out. May be given again");
  app.add_option("--names", into.names, "text file, line i names key i; one for each --rows");
  app.add_option("--columns", into.column_names, "text file, line j names column j of the values");
  app.add_option("--level", into.level, "gpu_to_gpu: one fixed order of additions; not_guaranteed: atomics; or both")
      ->check(CLI::IsMember({"gpu_to_gpu", "not_guaranteed", "all"}))
      ->capture_default_str();
  app.add_option("--backend", into.backend, "where to compute")->check(CLI::IsMember({"host", "cuda", "all"}))->capture_default_str();
  app.add_option("--runs", into.runs,
                 "how often each line of the table is computed (default: 1000 on the GPU, 20 on the host, 2 with several lanes)")
      ->check(CLI::Range(1, 100'000'000));
  app.add_option("--host-runs", into.host_runs, "the same for the host's lines, if it is to differ")->check(CLI::Range(1, 100'000'000));
  app.add_option("--lanes", into.lanes, "lanes of the host's blocks, a line for each")
      ->delimiter(',')
      ->check(CLI::IsMember({1, 4, 8}))
      ->capture_default_str();
  app.add_option("--threads", into.threads, "threads of the GPU's blocks, a line for each")
      ->delimiter(',')
      ->check(CLI::IsMember({32, 64, 128, 256, 512, 1024}))
      ->capture_default_str();
  app.add_option("--cap", into.caps, "most blocks of a GPU launch, 0 for no limit, a line for each")
      ->delimiter(',')
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_flag("--misalign", into.misalign, "also with arrays on the GPU that begin one element after an aligned address");
  app.add_flag("--no-noise", into.quiet_device, "leave the GPU alone otherwise (by default other work runs beside)");
  app.add_flag("--require-canary", into.require_canary, "fail where atomics gave one pattern only, though several cores or a GPU added");
  app.add_option("--head", into.head, "how many keys of the result are shown")->check(CLI::NonNegativeNumber)->capture_default_str();
  app.add_option("--save", into.save, "folder for KEY_sums.npy, KEY_means.npy and KEY_counts.npy");
  app.parse(argc, argv);
}

// Puts the files of `folder` where --values, --rows, --names and --columns would be.
inline void take_folder(arguments& args) {
  namespace fs = std::filesystem;
  if (!args.values.empty() || !args.rows.empty()) throw std::runtime_error("give a folder, or --values and --rows, and not both");
  if (!fs::is_directory(args.folder)) throw std::runtime_error(args.folder + ": there is no such folder");
  auto const text_beside = [](fs::path path) { return fs::exists(path.replace_extension(".txt")) ? path.string() : std::string(); };
  args.values = (fs::path(args.folder) / "values.npy").string();
  if (auto const columns = fs::path(args.folder) / "columns.txt"; fs::exists(columns)) args.column_names = columns.string();
  for (auto const& entry : fs::directory_iterator(args.folder)) {
    if (entry.path().extension() == ".npy" && entry.path().filename() != "values.npy") args.rows.push_back(entry.path().string());
  }
  std::sort(args.rows.begin(), args.rows.end());
  for (auto const& rows : args.rows) args.names.push_back(text_beside(rows));
}

}  // namespace reduce_by_key
