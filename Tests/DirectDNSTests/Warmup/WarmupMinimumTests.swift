// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DirectDNS

struct WarmupMinimumTests {
  @Test(arguments: [
    ("95%", WarmupMinimum.share(0.95)), ("100%", .all), ("0%", .share(0)), ("99.5%", .share(0.995)), ("40", .names(40)),
    ("0", .names(0)),
  ])
  func `a minimum is a count or a percentage, and reads as it is written`(_ text: String, _ expected: WarmupMinimum) {
    #expect(WarmupMinimum(text) == expected)
    #expect(expected.description == text)
  }

  @Test(arguments: ["", "%", "101%", "-1%", "-1", "1.5", "x%", "95 %", "1e1%", "inf%", "+5", "0x10%"])
  func `anything else is none`(_ text: String) { #expect(WarmupMinimum(text) == nil) }

  @Test(arguments: [
    (WarmupMinimum.share(0.95), 100, 95), (.share(0.95), 10, 10), (.share(0.07), 100, 7), (.share(0.29), 100, 29),
    (.share(0.5), 3, 2), (.all, 7, 7), (.all, 0, 1), (.share(0.01), 0, 1), (.share(0), 0, 0), (.names(0), 0, 0),
    (.share(0), 9, 0), (.names(4), 3, 4), (.share(1.0 / 3), 3, 1),
  ])
  func `a share is rounded up, and not by what binary fractions lose`(
    _ minimum: WarmupMinimum, _ names: Int, _ needed: Int
  ) {
    #expect(minimum.needed(of: names) == needed)
  }

  @Test(arguments: [
    (Double.nan, Int.max, "100%"), (.infinity, .max, "100%"), (1e300, .max, "100%"), (1, .max, "100%"),
    (-1e300, 0, "0%"),
  ])
  func `no share asks for more than all names`(_ share: Double, _ needed: Int, _ text: String) {
    #expect(WarmupMinimum.share(share).needed(of: .max) == needed)
    #expect(WarmupMinimum.share(share).description == text)
  }

  @Test func `a share of a list that was not read to its end is not reached`() {
    #expect(WarmupMinimum.share(0.5).isReached(9, of: 10, isListComplete: true))
    #expect(!WarmupMinimum.share(0.5).isReached(9, of: 10, isListComplete: false))
    #expect(WarmupMinimum.names(9).isReached(9, of: 10, isListComplete: false))
    #expect(WarmupMinimum.share(0).isReached(0, of: 0, isListComplete: false))
    #expect(!WarmupMinimum.names(10).isReached(9, of: 10, isListComplete: true))
  }

  @Test func `it is coded as its text`() throws {
    let text = try JSONEncoder().encode([WarmupMinimum.share(0.95), .names(4)])
    #expect(String(decoding: text, as: UTF8.self) == #"["95%","4"]"#)
    #expect(try JSONDecoder().decode([WarmupMinimum].self, from: text) == [.share(0.95), .names(4)])
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([WarmupMinimum].self, from: Data(#"["x"]"#.utf8))
    }
  }
}
