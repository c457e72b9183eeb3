// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DnsctlCommands

struct UnknownCommandTests {
  private let commands = ["resolve", "compare", "fetch", "cache", "check", "watch"]

  @Test(arguments: ["resolve", "check", "help", "--version", "-h", "--json"])
  func `a command or an option is left to the parser`(_ word: String) {
    #expect(UnknownCommand.objection(to: word, commands: commands) == nil)
  }

  @Test(arguments: [
    // A letter changed, put in, left out, exchanged with its neighbour; capitals.
    ("rosolve", "resolve"), ("ressolve", "resolve"), ("resove", "resolve"), ("reslove", "resolve"),
    ("RESOLVE", "resolve"), ("fecth", "fetch"), ("chekc", "check"), ("compar", "compare"), ("cash", "cache"),
  ])
  func `a slip of the fingers is answered with the command`(_ word: String, _ command: String) {
    #expect(
      UnknownCommand.objection(to: word, commands: commands) == "there is no command \(word). Did you mean \(command)?")
  }

  @Test(arguments: ["www.example.com", "@1.1.1.1", "192.0.2.1", "2001:db8::1"])
  func `a name or a server is answered with the command that looks names up`(_ word: String) {
    #expect(
      UnknownCommand.objection(to: word, commands: commands)
        == "there is no command \(word). To look up a name, write dnsctl resolve NAME.")
  }

  @Test func `a URL is not repeated, since there may be a password in it`() {
    #expect(
      UnknownCommand.objection(to: "https://me:hunter2@shop.test/", commands: commands)
        == "a URL is not a command. Write dnsctl fetch URL.")
    let below = UnknownCommand.objection(
      to: "https://me:hunter2@shop.test/", commands: ["list", "show"], below: ["cache"])
    #expect(below == "a URL is not a command: see dnsctl cache --help.")
  }

  @Test(arguments: [
    (["help", "rosolve"], "there is no command rosolve. Did you mean resolve?"),
    (["cache", "lst"], "there is no command cache lst. Did you mean cache list?"),
    (["help", "cache", "lst"], "there is no command cache lst. Did you mean cache list?"),
    (["export"], "there is no command export. Did you mean cache export?"),
    (["help", "stats"], "there is no command stats. Did you mean cache stats?"),
    (["cache", ""], "the argument after cache is empty, and should be a command: see dnsctl cache --help."),
  ])
  func `a slip below a command and after help is answered, too, and a command without the one above it`(
    _ words: [String], _ objection: String
  ) {
    #expect(UnknownCommand.objection(in: words, of: Dnsctl.self) == objection)
  }

  @Test func `below a command there is the list of its own`() {
    let objection = UnknownCommand.objection(in: ["cache", "www.example.com"], of: Dnsctl.self)
    #expect(objection?.hasPrefix("there is no command cache www.example.com. There are list, show,") == true)
    #expect(objection?.hasSuffix(": see dnsctl cache --help.") == true)
  }

  @Test(arguments: [
    [], ["help"], ["help", "cache"], ["help", "cache", "list"], ["help", "--help"], ["cache"], ["cache", "list", "x"],
    ["cache", "--help"], ["cache", "--store", "x", "nosuch"], ["resolve", "nosuch"], ["help", "resolve", "nosuch"],
  ])
  func `commands that there are, and what is up to them, are left to the parser`(_ words: [String]) {
    #expect(UnknownCommand.objection(in: words, of: Dnsctl.self) == nil)
  }

  @Test func `for anything else there is the list`() {
    #expect(
      UnknownCommand.objection(to: "frobnicate", commands: ["proxy", "exec"])
        == "there is no command frobnicate. There are proxy, exec: see dnsctl --help.")
    #expect(UnknownCommand.objection(to: "", commands: commands)?.contains("empty") == true)
    #expect(UnknownCommand.objection(to: "a\u{1b}[2Jb", commands: commands)?.contains("\u{1b}") == false)
  }
}
