// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The life of one answer, and a request that goes where it says, told with real servers on loopback.
///
/// Ends with 1 when the story does not come true.
@main
struct Demo {
  private static let usage = """
    usage: Demo            tells the story
           Demo --serve    starts the story's servers, and says how to reach them
    """

  static func main() async {
    let console = Console()
    let arguments = CommandLine.arguments.dropFirst()
    guard arguments.isEmpty || arguments == ["--serve"] else {
      let isHelp = ["--help", "-h", "help"].contains(arguments.first ?? "")
      if isHelp { console.output(usage) } else { console.reportError(usage) }
      exit(isHelp ? 0 : 64)
    }
    // URLSession on Linux heeds the environment's proxies, and the story stays on this machine.
    unsafe setenv("no_proxy", "*", 1)
    do {
      let stage = try await Stage()
      if arguments == ["--serve"] {
        return await Serving(console: console, stage: stage, shop: try await Shop()).untilToldToEnd()
      }
      let duration = try await Story(console: console, stage: stage).tell()
      console.chapter("The end")
      console.say(
        "The story came true in \(duration.text). Everything above was asked, answered and measured just now."
      )
    } catch {
      console.reportError("\nThe story did not come true: \(error)")
      exit(1)
    }
  }
}
