// The subcommands. Each stands in a file of its own with its flags, its help and what it does; main.cc lists them.
#pragma once

namespace CLI {
class App;
}

namespace holdfast {

// Each adds itself to the command line; when it is chosen it does its work and leaves its exit code in `exit_code`.
void add_run(CLI::App& app, int& exit_code);
void add_audit(CLI::App& app, int& exit_code);
void add_check(CLI::App& app, int& exit_code);
void add_verify(CLI::App& app, int& exit_code);
void add_report(CLI::App& app, int& exit_code);
void add_list(CLI::App& app, int& exit_code);
void add_doctor(CLI::App& app, int& exit_code);
void add_clean(CLI::App& app, int& exit_code);
void add_lab(CLI::App& app, int& exit_code);

}  // namespace holdfast
