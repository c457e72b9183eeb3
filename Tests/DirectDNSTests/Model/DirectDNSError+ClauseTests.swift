// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct DirectDNSErrorClauseTests {
  @Test(arguments: [
    ("The host is empty.", "the host is empty"), ("A token is short: take another.", "a token is short: take another"),
    ("No address is left.", "no address is left"), ("Line 2 is wrong.", "line 2 is wrong"),
    ("There are no users.", "there are no users"), ("This is not an address.", "this is not an address"),
  ])
  func `a message inside a sentence has no capital letter and no period`(_ message: String, _ clause: String) {
    #expect(DirectDNSError(.invalidName, message).clause == clause)
  }

  @Test(arguments: [
    ("TLS with a.example failed.", "TLS with a.example failed"), ("\"A b\" is no name.", "\"A b\" is no name"),
    ("CONNECT is for proxies.", "CONNECT is for proxies"), ("Theo.example is refused.", "Theo.example is refused"),
    ("a.example does not exist. Check its spelling.", "a.example does not exist. Check its spelling"),
  ])
  func `a name, a value and an abbreviation keep their case there`(_ message: String, _ clause: String) {
    #expect(DirectDNSError(.invalidName, message).clause == clause)
  }

  @Test(arguments: [("", ""), (".", ""), ("no period", "no period"), ("The", "the")])
  func `a message that is no sentence is taken as it is`(_ message: String, _ clause: String) {
    #expect(DirectDNSError(.invalidName, message).clause == clause)
  }

  @Test(arguments: [
    ("It failed", "It failed."), ("It failed.", "It failed."), ("Which file?", "Which file?"), ("No!", "No!"),
    ("And so on…", "And so on…"), ("", ""),
  ])
  func `a text gets a period unless it ends like a sentence`(_ text: String, _ sentence: String) {
    #expect(DirectDNSError.sentence(text) == sentence)
  }
}
