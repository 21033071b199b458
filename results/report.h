// The reports as HTML: one file each, no network, readable without JavaScript, working from file://.
//
// All of them are functions of what is on disk and can be made again at any time. Whatever comes out of a history goes
// through html_escape() or, inside the embedded data, through json_for_script(): a value may hold "</script>".
#pragma once

#include <filesystem>
#include <string>

#include "results/audit.h"
#include "results/results.h"
#include "results/store.h"

namespace holdfast {

// report.html of a run. `folder` as the user would type it, for the commands on the page.
std::string report_html(const RunInfo& info, const RunResults& results, const History& history,
                        const std::filesystem::path& folder);

// audit.html; links to the runs' reports are relative to `folder`, where the page will stand.
std::string audit_html(const Audit& audit, const std::filesystem::path& folder);

// store/index.html: one row per run, newest first, made by scanning the store.
std::string index_html(const std::filesystem::path& store);
void write_index(const std::filesystem::path& store);

}  // namespace holdfast
