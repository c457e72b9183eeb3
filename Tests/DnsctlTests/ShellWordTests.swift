// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

@Suite(.timeLimit(.minutes(1))) struct ShellWordTests {
  /// What the machine's shell prints for a script.
  static func shell(_ script: [UInt8]) throws -> [UInt8] {
    let folder = try TestFolder()
    let file = folder.path + "/script"
    try Data(script).write(to: URL(filePath: file))
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = [file]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    withExtendedLifetime(folder) {}
    return Array(bytes)
  }

  /// What a shell makes of words: each, and a NUL behind it.
  private func echoed(_ words: [[UInt8]]) throws -> [UInt8] {
    var script: [UInt8] = []
    for word in words {
      script += Array(#"printf '%s\0' "#.utf8) + (try #require(ShellWord(word)).quoted) + Array("\n".utf8)
    }
    return try Self.shell(script)
  }

  @Test(arguments: [
    "", "plain", "a b", "'", "''", "a'b", "'\u{301}; echo run; '\u{301}", "\u{301}", "`echo run`", "$(echo run)",
    "$HOME",
    "*", "?", "~", "!x", "#x", "a\nb", "\\", "\\'", "\"", "&", ";", "|", "<", ">", "a\u{308}'\u{20dd}b", "'\u{200d}'",
    "'\u{fe0f}", "\u{7f}\u{1b}[31m\u{85}", "例子", "👩‍👩‍👧'", "\r\n'\r\n", "=x", "%s%n",
  ])
  func `a shell reads a word as it was`(_ text: String) throws {
    #expect(try echoed([Array(text.utf8)]) == Array(text.utf8) + [0])
  }

  @Test func `any bytes come back the same from a shell`() throws {
    var random = SystemRandomNumberGenerator()
    // Those that mean something come often; the others are any byte, whether or not they are UTF-8.
    let marks = Array("'\"\\$`!;&|<>()* \n\t~#=%".utf8) + [0xcc, 0x81, 0xff, 0x80, 0xe2, 0x83, 0x9d]
    let words = (0..<2000).map { _ in
      (0..<Int.random(in: 0...24, using: &random)).map { _ in
        Bool.random(using: &random)
          ? marks.randomElement(using: &random) ?? 0x27 : UInt8.random(in: 1...255, using: &random)
      }
    }
    #expect(try echoed(words) == words.flatMap { $0 + [0] })
  }

  @Test func `every byte but NUL comes back the same, and NUL is refused`() throws {
    let words: [[UInt8]] = (UInt8(1)...255).flatMap { (byte: UInt8) -> [[UInt8]] in
      [[byte], [0x27, byte], [byte, 0x27], [0x61, byte, 0x62]]
    }
    #expect(try echoed(words) == words.flatMap { $0 + [0] })
    #expect(ShellWord([0]) == nil)
    #expect(ShellWord(Array("a\0b".utf8)) == nil)
  }

  @Test func `a line of curl's runs curl and nothing else, whatever a field holds`() async throws {
    let values = ["'\u{301}; echo RUN; '", "$(echo RUN)", "`echo RUN`", "'\u{20dd};echo RUN #", "a'b"]
    let headers = values.enumerated().map { "[\"X-\($0)\", \(JSONLine.string($1))]" }.joined(separator: ",")
    let fixture = CommandFixture(
      zone: ["shop.example": .addresses(["8.8.8.8"])],
      input: ScriptedInput(["{\"url\": \"http://shop.example/'a\u{301}b\", \"headers\": [\(headers)]}\n"]))
    let outcome = await fixture.run(["rewrite", "--provider", "google", "--no-system", "--format", "curl", "-"])
    #expect(outcome.status == 0 && outcome.errors == "")
    // What `eval "$line"` runs is the line.
    let script = "curl() { for word; do printf '%s\\0' \"$word\"; done; }\n\(outcome.output)"
    let words = try Self.shell(Array(script.utf8)).split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    #expect(words.first == "--disable" && words.last == "http://shop.example/'a%CC%81b")
    for (index, value) in values.enumerated() {
      #expect(words.contains { $0.utf8.elementsEqual("X-\(index): \(value)".utf8) })
    }
    #expect(!words.contains { $0.hasPrefix("RUN") })
  }
}
