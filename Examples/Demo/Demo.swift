import Foundation

/// The life of one answer, and a request that goes where it says, told with real servers on loopback.
///
/// Ends with 1 when the story does not come true.
@main
struct Demo {
  static func main() async {
    let console = Console()
    // URLSession on Linux heeds the environment's proxies, and the story stays on this machine.
    unsafe setenv("no_proxy", "*", 1)
    do {
      let stage = try await Stage()
      if CommandLine.arguments.dropFirst() == ["--serve"] {
        return await Serving(console: console, stage: stage).untilReturn()
      }
      let duration = try await Story(console: console, stage: stage).tell()
      console.chapter("The end")
      console.say(
        "The story came true in \(duration.text). Everything above was asked, answered and measured just now."
      )
    } catch {
      console.complain("\nThe story did not come true: \(error)")
      exit(1)
    }
  }
}
