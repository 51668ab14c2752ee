#pragma once
// Commands whose options the Python package of analysis/ takes as they are: declared once in C++, for --help and
// unknown names, and handed on as they were written.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace fourscore {

/// Declares options without a place for their values.
class ForwardedOptions {
 public:
  explicit ForwardedOptions(CLI::App& app) : app_(&app) {}
  CLI::Option* one(const std::string& name, const std::string& type, const std::string& help);
  /// Given once or several times.
  CLI::Option* repeated(const std::string& name, const std::string& type, const std::string& help);
  CLI::Option* flag(const std::string& name, const std::string& help);
  /// Arguments without a name, as many as there are.
  CLI::Option* arguments(const std::string& name, const std::string& type, const std::string& help);

 private:
  CLI::App* app_;
};

/// What predict and advise ask of the models: the problem, its place and contract, the model, JSON.
void add_question(ForwardedOptions& options);

/// What was given to the command's options, but --help and --archive: --name=value, flags, then the arguments behind
/// --.
[[nodiscard]] std::vector<std::string> as_given(const CLI::App& app);

/// Becomes the package's command of the app's name with these and the archive, which must be there. Throws InputError,
/// EnvironmentError.
[[noreturn]] void forward(const CLI::App& app, const std::string& archive);
/// The same, but the archive may be missing where one of these options was given.
[[noreturn]] void forward_unless(const CLI::App& app, const std::string& archive,
                                 const std::vector<std::string>& without_archive);

}  // namespace fourscore
