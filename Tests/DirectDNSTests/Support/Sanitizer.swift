// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The sanitizer that watches the tests (`Scripts/test --sanitize`).
enum Sanitizer {
  /// The thread sanitizer, under which all takes some ten times as long; under the address sanitizer it is twice.
  private static let isSlow = ProcessInfo.processInfo.environment["DIRECTDNS_SANITIZER"] == "thread"

  /// How often, or how much of it, a test does something that it does very often: a tenth under the thread sanitizer.
  ///
  /// Access by two threads without order shows as well in a hundred repetitions as in a thousand; that the rare case is
  /// right is shown by the runs without it.
  ///
  /// - Parameters:
  ///   - count: how often without it.
  ///   - least: how often at least, where fewer would not reach what is tested.
  /// - Returns: how often here.
  static func volume(of count: Int, atLeast least: Int = 1) -> Int {
    isSlow ? min(count, max(count / 10, least)) : count
  }
}
