// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSSQLite
import DirectDNSTesting

/// A DNS that lies: whoever answers for a name leads it to addresses that nobody may send to, on every path that a
/// request can take.
///
/// It runs where every address of the world is this machine (Trust/promises makes such a network), with an origin that
/// listens on all of them: what was dialled would answer. Whether anything was dialled is counted by the kernel; here is
/// counted what came of each lure: refused, or led to the address that is allowed.
enum LyingRun {
  static func run(folder: String) async throws {
    let fixture = try await LyingFixture(folder: folder)
    for (name, run) in fixture.paths {
      let tally = try await run()
      print("path=\(name) lures=\(tally.lures) refused=\(tally.refused) public=\(tally.public) wrong=\(tally.wrong)")
      if let what = tally.firstWrong { print("wrong: \(name): \(what)") }
    }
    await fixture.stop()
  }
}

/// What came of lures.
struct LureTally: Sendable {
  var lures = 0
  var refused = 0
  /// Went to the address that is allowed.
  var `public` = 0
  var wrong = 0
  var firstWrong: String?
}
