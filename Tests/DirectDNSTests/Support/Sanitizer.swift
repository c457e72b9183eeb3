// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A sanitizer that watches the tests (`Scripts/test --sanitize`), under which all takes some ten times as long.
enum Sanitizer {
  static let isOn = ProcessInfo.processInfo.environment["DIRECTDNS_SANITIZER"] != nil

  /// How often, or how much of it, a test does something that it does very often: a tenth of that under a sanitizer.
  ///
  /// Access by two threads without order, or a byte beyond its place, shows as well in a hundred repetitions as in a
  /// thousand; that the rare case is right is shown by the runs without one.
  ///
  /// - Parameters:
  ///   - count: how often without a sanitizer.
  ///   - least: how often at least, where fewer would not reach what is tested.
  /// - Returns: how often here.
  static func volume(of count: Int, atLeast least: Int = 1) -> Int {
    isOn ? min(count, max(count / 10, least)) : count
  }
}
