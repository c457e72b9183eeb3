// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS

/// `dnsctl restore`: puts the name back into responses to requests that went to an address.
struct RestoreCommand: ContextCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Give the response to a rewritten request its name back.",
    discussion: """
      Responses come from standard input, one JSON object a line, blank lines left out:
        {"originalUrl": …, "address": …, "status": …,
         "headers": [[name, value], …]}
      originalUrl is what dnsctl rewrite gave; address is what it gave as addresses, or one of them. Each gives one line of JSON, in the same order:
        {"headers", "rejectedHeaders", "location",
         "cookies": [{"name", "value", "domain", "hostOnly", "path", "secure",
                      "httpOnly", "sameSite", "expires"}],
         "rejectedCookies", "error"}
      Set-Cookie, Location, Content-Location and Refresh have the name again, and location is absolute. cookies are those that may be kept, expires in seconds since 1970 or null; rejectedCookies says why others may not, and rejectedHeaders which fields are left out because no message may have them. What does not apply is null.

      EXAMPLES
        dnsctl restore < responses.jsonl

      EXIT STATUS
          0  every response was restored
          1  a line is no such object; its error says why
         64  the command line is wrong
         74  standard input could not be read, or standard output not written
        130  interrupted
        141  the reader of standard output has gone
      """)

  func run(in context: CommandContext) async -> ExitStatus {
    let clock = context.clock
    let pipeline = OrderedPipeline(input: context.input, lines: LineSplitter(.json)) { item in
      do throws(DirectDNSError) {
        let input = try RestoreInput(item)
        return RestoredLine(input, now: CookieTime(clock))
      } catch {
        return RestoredLine(error)
      }
    }
    return await pipeline.run([Pipeline.inputMark], in: context) { line in
      (RenderedOutcome(output: line.text), line.status)
    }
  }
}
