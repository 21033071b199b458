#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/session.h"
#include "results/audit.h"
#include "results/card.h"
#include "results/card_svg.h"
#include "results/report.h"

namespace holdfast {

namespace {

namespace fs = std::filesystem;

struct Report {
  std::string subject = "latest";
  std::string store = "store";
  std::string picture;
};

// The card as text, the page written anew; the verdict is the one that was reached then.
int report(const Report& command) {
  const fs::path folder = resolve_run(command.store, command.subject);
  CardStyle style = card_style_for(STDOUT_FILENO);
  const bool audit = fs::exists(folder / "audit.json");
  std::string card;
  std::string coloured;
  std::string typed;
  if (audit) {
    const Audit whole = read_audit(folder);
    write_file(folder / "audit.html", audit_html(whole, folder));
    card = audit_card(whole, folder / "audit.html", style);
    coloured = audit_card(whole, folder / "audit.html", {.colour = true});
    typed = "./holdfast audit " + whole.system;
  } else {
    const RunInfo info = read_run_info(folder);
    const RunResults results = read_results(folder);
    write_file(folder / "report.html",
               report_html(info, results, read_history(folder / "history.jsonl").history, folder));
    card = run_card(info, results, folder, style);
    coloured = run_card(info, results, folder, {.colour = true});
    typed = repeat_command(info);
  }
  fmt::print("{}", card);
  if (!command.picture.empty()) write_file(command.picture, card_to_svg(coloured, typed));
  return 0;
}

}  // namespace

void add_report(CLI::App& app, int& exit_code) {
  auto command = std::make_shared<Report>();
  CLI::App* const sub =
      app.add_subcommand("report", "Show a run's or an audit's report card again and write its page anew");
  sub->add_option("run", command->subject, "latest, a run's folder, or its name")->capture_default_str();
  sub->add_option("--svg", command->picture, "Also write the card as a picture to this file");
  sub->add_option("--store", command->store, "Folder of runs")->capture_default_str();
  sub->callback([command, &exit_code] { exit_code = report(*command); });
}

}  // namespace holdfast
