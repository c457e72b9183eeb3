// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import Testing

@testable import DnsctlCommands
@testable import dnsctl_proxy

struct ProxyProgramOptionsTests {
  @Test(arguments: ["proxy", "exec"])
  func `which options of the proxy's program have a value is known of every one`(_ verb: String) throws {
    let help = try JSONSerialization.jsonObject(with: Data(ProxyProgram._dumpHelp().utf8)) as? [String: Any]
    let commands = (help?["command"] as? [String: Any])?["subcommands"] as? [[String: Any]]
    let command = try #require(commands?.first { $0["commandName"] as? String == verb })
    var count = 0
    for argument in try #require(command["arguments"] as? [[String: Any]]) {
      for name in argument["names"] as? [[String: String]] ?? [] where name["kind"] == "long" {
        let text = try #require(name["name"])
        #expect(OptionWords.isFlag(text, of: verb) == (argument["kind"] as? String == "flag"), "--\(text)")
        count += 1
      }
    }
    #expect(count > 10)
  }
}
