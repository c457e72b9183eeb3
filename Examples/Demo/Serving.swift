// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Foundation

/// `Demo --serve`: the story's servers without the story, for trying `dnsctl` by hand.
struct Serving {
  let console: Console
  let stage: Stage
  let shop: Shop

  /// What a shell has to be told: how to reach the two providers, and where the shop is.
  var environment: [(key: String, value: String)] {
    stage.environment.map { $0 } + [("SHOP", shop.url("", host: Stage.payHost))]
  }

  /// Says how to reach the servers, and keeps them until someone at the terminal presses Return, or a signal comes.
  ///
  /// Where standard input is no terminal its end means nothing: servers in the background often have none.
  func untilToldToEnd() async {
    let isTerminal = isatty(0) == 1
    console.say("Two providers and a shop are waiting on this machine. In another terminal, type or paste:\n")
    let settings = environment.map { "export \($0.key)=\($0.value)\n" }.joined()
    console.output(settings + "dnsctl resolve \(Stage.host)\n")
    console.say(
      "They know \(Stage.names.joined(separator: ", ")), and that no other name exists. \(isTerminal ? "Return" : "Ctrl-C or SIGTERM") ends them."
    )
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    let signals = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler { end.yield() }
      source.resume()
      return source
    }
    if isTerminal {
      Thread.detachNewThread {
        // Not by readLine, which holds a lock that the end of the process waits for.
        _ = FileHandle.standardInput.availableData
        end.yield()
      }
    }
    _ = await ends.first { true }
    for source in signals { source.cancel() }
    await stage.doh.stop()
    await stage.json.stop()
    await shop.origin.stop()
    console.say("The providers and the shop have ended.")
  }
}
