// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The three promises under measurement, for Trust/promises: DNS that is dead, lying or slow.
///
///     Promises month DAYS       so many days without any DNS, by a clock that is moved
///     Promises dead SECONDS     so many seconds of real time without any DNS, under load
///     Promises lying FOLDER     leads a client to forbidden addresses on every path
///     Promises slow SECONDS     so many seconds at each of the delays
///
/// Figures are printed as `name=value`. It judges nothing but what came back; Trust/promises does.
@main
struct Promises {
  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    switch (arguments.first, arguments.count) {
    case ("month", 2): try await DeadMonth.run(days: Int(arguments[1]) ?? 0)
    case ("dead", 2): try await DeadRun.run(seconds: Double(arguments[1]) ?? 0)
    case ("lying", 2): try await LyingRun.run(folder: arguments[1])
    case ("slow", 2): try await SlowRun.run(seconds: Double(arguments[1]) ?? 0)
    default:
      print("usage: Promises month DAYS | dead SECONDS | lying FOLDER | slow SECONDS")
      exit(64)
    }
  }
}
