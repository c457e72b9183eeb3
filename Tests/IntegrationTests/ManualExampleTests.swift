// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Every example of the manual, typed on a machine where its names and files are there.
@Suite("The manual's examples", .timeLimit(.minutes(3)))
struct ManualExampleTests {
  /// Those that end with something else than 0 here, each with the reason.
  private static let ends: [String: (status: Int, reason: String)] = [
    "dnsctl cache clear": (64, "nobody is there to be asked whether to go on"),
    "dnsctl check --proxy http://127.0.0.1:3128": (2, "nobody listens at port 443 of example.com"),
  ]

  @Test func `each does what it says`() async throws {
    let fixture = try await ManualFixture()
    let examples = try await ManualExample.all()
    #expect(examples.count >= 60)
    for example in examples {
      let said = try await fixture.page.run("(\(fixture.command(example))\n); echo \"ended with $?\"")
      let wanted = Self.ends[example.command]?.status ?? 0
      #expect(said.hasSuffix("ended with \(wanted)\n"), "\(example.verb): \(example)\n\(said)")
    }
    #expect(Set(Self.ends.keys).subtracting(examples.map(\.command)) == [], "examples that are no more")
    await fixture.end()
  }
}
