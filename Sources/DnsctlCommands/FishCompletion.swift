// SPDX-License-Identifier: Apache-2.0
/// The parser's completion script for fish, mended.
///
/// Its `argparse` fails on an option with a dot in its name (`--http1.1`), on one that is unknown, and where a value is
/// missing; the loop around it then never ends, and fish hangs at the first Tab (swift-argument-parser 1.8.2). A script in
/// which none of these lines stands stays as it is.
enum FishCompletion {
  static func mended(_ script: String) -> String {
    var result = script
    for (line, mended) in [
      // fish makes a variable of each option's name, which may have no dot.
      ("set -l option_specs $argv[2..]\n", "set -l option_specs (string match -v -- '*.*' $argv[2..])\n"),
      (
        #"argparse -sn "$commands" $option_specs -- $unparsed_tokens 2> /dev/null"# + "\n",
        #"argparse -isn "$commands" $option_specs -- $unparsed_tokens 2> /dev/null; or break"# + "\n"
      ),
    ] {
      guard let place = result.firstRange(of: line) else { return script }
      result.replaceSubrange(place, with: mended)
    }
    return result
  }
}
