// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSFoundation
import Foundation
import Testing

struct DirectDNSErrorLocalizedErrorTests {
  @Test func `Foundation shows the message and everyone who was asked`() {
    let error: any Error = DirectDNSError(
      .upstreamFailed, "www.example.net could not be looked up.",
      attempts: [.init(server: "alidns", reason: "timed out")])
    #expect(error.localizedDescription == "www.example.net could not be looked up.\n  alidns: timed out")
  }
}
