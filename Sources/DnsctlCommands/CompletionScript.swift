// SPDX-License-Identifier: Apache-2.0
/// Fixes the completion scripts of the parser (swift-argument-parser 1.8.2).
///
/// A script without the lines that are replaced stays as it is.
enum CompletionScript {
  /// - Parameters:
  ///   - script: a script, or any other text that the parser has made.
  ///   - commands: the program's commands, which `help` takes.
  /// - Returns: the script as it is to be used.
  static func patched(_ script: String, commands: [String]) -> String {
    let names = commands.joined(separator: " ")
    var result = patchedForFish(script, names)
    // The parser offers nothing after `help`.
    let function = "_dnsctl_help() {\n    repeating_flags=()\n"
    for (line, patched) in [
      (
        function,
        function + #"    [[ ${#unparsed_words[@]} -gt 1 ]] || COMPREPLY+=($(compgen -W '\#(names)' -- "${cur}"))"#
          + "\n"
      ),
      ("        '*:subcommands:'\n", "        '1:subcommands:(\(names))'\n"),
    ] {
      if let place = result.firstRange(of: line) { result.replaceSubrange(place, with: patched) }
    }
    return result
  }

  /// The script's `argparse` fails on an option with a dot in its name (`--http1.1`), on an unknown one, and if a value
  /// is missing; the loop around it then never ends, and fish hangs at the first Tab.
  private static func patchedForFish(_ script: String, _ names: String) -> String {
    var result = script
    for (line, patched) in [
      // fish makes a variable of each option's name, which may not contain a dot.
      ("set -l option_specs $argv[2..]\n", "set -l option_specs (string match -v -- '*.*' $argv[2..])\n"),
      (
        #"argparse -sn "$commands" $option_specs -- $unparsed_tokens 2> /dev/null"# + "\n",
        #"argparse -isn "$commands" $option_specs -- $unparsed_tokens 2> /dev/null; or break"# + "\n"
      ),
    ] {
      guard let place = result.firstRange(of: line) else { return script }
      result.replaceSubrange(place, with: patched)
    }
    let condition = #"__dnsctl_should_offer_completions_for_positional "dnsctl help" -eq 1"#
    return result + "\ncomplete -c 'dnsctl' -n '\(condition)' -fa '\(names)'"
  }
}
