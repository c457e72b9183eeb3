import DirectDNSTesting
import Foundation

/// `Demo --serve`: the story's two servers without the story, for trying `dnsctl` by hand.
struct Serving {
  let console: Console
  let stage: Stage

  /// Says how to reach the servers, and keeps them until Return is pressed or standard input ends.
  func untilReturn() async {
    console.say("Two providers are waiting on this machine. In another terminal, type or paste:\n")
    let settings = stage.environment.map { "export \($0.key)=\($0.value)\n" }.joined()
    console.output(settings + "dnsctl resolve \(Stage.host)\n")
    console.say(
      "They know \(Stage.names.joined(separator: ", ")), and that no other name exists. Return ends them.")
    _ = readLine()
    await stage.doh.stop()
    await stage.json.stop()
  }
}
