// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNSProxy

@Suite("Basic credentials")
struct BasicCredentialsTests {
  private func read(_ text: String) -> BasicCredentials? { BasicCredentials(Array(text.utf8).span) }

  @Test(arguments: [
    ("Basic YW5uOnBhc3M=", "ann", "pass"), ("bASIC  YW5uOnBhc3M=", "ann", "pass"), ("Basic YW5uOg==", "ann", ""),
    ("Basic OnBhc3M=", "", "pass"), ("Basic YW5uOnA6YTpz", "ann", "p:a:s"), ("Basic w6Q6w7Y=", "ä", "ö"),
  ])
  func `a name ends at the first colon`(text: String, name: String, password: String) {
    #expect(read(text) == BasicCredentials(name: name, password: password.utf8))
  }

  @Test func `a password need not be UTF-8, and is not another one that is not`() {
    #expect(read("Basic YW5uOnD/")?.password == [0x70, 0xff])
    #expect(read("Basic YW5uOnD/") != read("Basic YW5uOnD+"))
  }

  @Test(arguments: ["", "Basic", "Basic ", "Bearer YW5uOnBhc3M=", "Basic YW5u", "Basic !!!!", "BasicYW5uOnBhc3M="])
  func `anything else is none`(text: String) { #expect(read(text) == nil) }
}
