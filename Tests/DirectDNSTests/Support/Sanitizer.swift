// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The sanitizer that watches the tests (`Scripts/test --sanitize`).
enum Sanitizer {
  private static let name = ProcessInfo.processInfo.environment["DIRECTDNS_SANITIZER"]

  /// How often, or how much of it, a test does something that it does very often: a quarter under the address sanitizer,
  /// by which all takes some three times as long, and a tenth under the thread sanitizer, by which it is ten times.
  ///
  /// Access by two threads without order, or a byte beyond its place, shows as well in a hundred repetitions as in a
  /// thousand; that the rare case is right is shown by the runs without one.
  ///
  /// - Parameters:
  ///   - count: how often without a sanitizer.
  ///   - least: how often at least, where fewer would not reach what is tested.
  /// - Returns: how often here.
  static func volume(of count: Int, atLeast least: Int = 1) -> Int {
    switch name {
    case nil: count
    case "address": min(count, max(count / 4, least))
    default: min(count, max(count / 10, least))
    }
  }
}
