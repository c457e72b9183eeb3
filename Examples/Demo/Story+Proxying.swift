// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting
import Foundation

/// A program that knows nothing of all this, in whatever language it is written.
extension Story {
  func proxied(_ dnsctl: Dnsctl) async throws {
    console.chapter("Any program, while DNS is dead")
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/curl") else {
      return console.say("curl is not installed: this chapter is left out.")
    }
    let records = RecordTable { $0.add(Shop.host, Shop.address, ttl: Stage.ttl) }
    let (shop, doh) = (try await Shop(), try await FakeProvider.start(records: records))
    let url = shop.url("/pay")
    let command =
      ["exec", "--no-system", "--store", "answers.sqlite", "--allow", Shop.network]
      + ["--provider", "json+\(doh.url("/resolve"))", "--", "curl", "-sS", url]

    console.say(
      "curl is run through a proxy of its own. Its name is looked up by dnsctl, which remembers it in a file:")
    let first = try await dnsctl.run(command)
    try console.expect(first.output, contains: "Thank you.", "what curl got")
    await doh.stop()
    console.say("Now the DNS server is gone. The same command, in a new process:")
    let second = try await dnsctl.run(command)
    try console.expect(second.output, contains: "Thank you.", "what curl got without DNS")
    try console.expect(second.status, is: 0, "curl's exit status")
    console.say(
      "Python, Node, Java or a browser do as well: dnsctl exec -- PROGRAM, or dnsctl proxy for all of a machine.")
    await shop.origin.stop()
  }
}
