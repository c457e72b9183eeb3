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
      // A command and a value got a slash where a folder of that name exists: only paths are names of files.
      ("\ncomplete -o filenames -F _dnsctl dnsctl", "\ncomplete -F _dnsctl dnsctl"),
      (
        "__dnsctl_add_completions() {\n",
        "__dnsctl_add_completions() {\n    [[ \"${1}\" = -[Wc] ]] || compopt -o filenames 2>/dev/null\n"
      ),
      ("\n_dnsctl_exec() {\n", programForBash + "\n_dnsctl_exec() {\n    ! __dnsctl_complete_program || return 0\n"),
      ("        '*:program:'\n", "        '(-)1:program: _command_names -e'\n        '*::arguments: _normal'\n"),
    ] {
      if let place = result.firstRange(of: line) { result.replaceSubrange(place, with: patched) }
    }
    return result
  }

  /// The program of `exec` with its arguments is completed as if it stood alone: by bash-completion where there is one.
  private static let programForBash = #"""

    __dnsctl_complete_program() {
        local -i place
        for ((place = 2; place < COMP_CWORD; place++)); do
            [[ "${COMP_WORDS[place]}" = -- ]] || continue
            if declare -F _command_offset >/dev/null; then
                _command_offset "$((place + 1))"
            elif ((place + 1 == COMP_CWORD)) && [[ "${cur}" != */* ]]; then
                __dnsctl_add_completions -c
            else
                __dnsctl_add_completions -f
            fi
            return 0
        done
        return 1
    }

    """#

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
    return result + "\ncomplete -c 'dnsctl' -n '\(condition)' -fa '\(names)'" + programForFish
  }

  private static let programForFish = #"""

    function __dnsctl_program
        string match -rg -- '^\S*dnsctl\s+exec\s(?:.*?\s)?--\s+(.*)$' (commandline -pc)
    end
    complete -c 'dnsctl' -n '__dnsctl_program >/dev/null' -fka '(complete -C (__dnsctl_program))'
    """#
}
