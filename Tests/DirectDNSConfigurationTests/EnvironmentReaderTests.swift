// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNSConfiguration

@Suite("A variable of the environment")
struct EnvironmentReaderTests {
  private func reader(_ text: String?) -> EnvironmentReader {
    EnvironmentReader(environment: text.map { ["DIRECTDNS_X": $0] } ?? [:])
  }

  @Test(arguments: [nil, ""])
  func `an empty one counts as unset`(text: String?) throws {
    let reader = reader(text)
    #expect(reader.text("X") == nil)
    #expect(try reader.value("X", "") { Int($0) } == nil)
    #expect(try reader.words("X") == nil && reader.paths("X") == nil)
  }

  @Test(
    arguments: [
      ("a", ["a"], ["a"]), (" a , b ", ["a", "b"], [" a , b "]), ("a,,b,", ["a", "b"], ["a,,b,"]),
      ("/a:/b c:", ["/a:/b c:"], ["/a", "/b c"]), ("  ", nil, nil),
    ] as [(String, [String]?, [String]?)])
  func `words are separated by commas, and paths, which may have spaces, by colons`(
    text: String, words: [String]?, paths: [String]?
  ) throws {
    if text.contains("b c") {
      #expect(throws: ConfigurationFault.self) { try reader(text).words("X") }
    } else {
      #expect(try reader(text).words("X") == words)
    }
    #expect(try reader(text).paths("X") == paths)
  }

  @Test func `a fault names the variable and says what to write`() {
    #expect {
      try reader("x").value("X", "Give a number.") { Int($0) }
    } throws: {
      ($0 as? ConfigurationFault)?.message == "DIRECTDNS_X is \"x\". Give a number."
    }
    #expect {
      try reader(", ,").words("X")
    } throws: {
      ($0 as? ConfigurationFault)?.message == "DIRECTDNS_X is \", ,\": a list of nothing. Give an entry, or unset it."
    }
    #expect {
      try reader("a, k=1 2").words("X")
    } throws: {
      ($0 as? ConfigurationFault)?.message
        == "DIRECTDNS_X: entry 2 has a space in it. Separate entries by commas."
    }
  }
}
