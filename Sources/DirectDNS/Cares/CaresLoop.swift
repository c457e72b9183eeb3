// SPDX-License-Identifier: Apache-2.0
/// The one thread that asks the system's DNS: all lookups under way share it.
///
/// It begins with the first lookup, and ends when there was none for a while.
final class CaresLoop: Sendable {
  /// Lookups of the whole process.
  static let shared = CaresLoop()

  private let loop: Loop<CaresQueries>

  /// Creates a loop; its thread begins with the first lookup.
  ///
  /// - Parameters:
  ///   - resolvConf: another file in place of /etc/resolv.conf.
  ///   - idleTime: how long the thread waits for a further lookup.
  init(resolvConf: String? = nil, idleTime: Duration = .seconds(10)) {
    loop = Loop(CaresQueries.Settings(resolvConf: resolvConf, idleTime: idleTime))
  }

  /// Begins a lookup.
  func start(_ query: CaresQuery) {
    guard !loop.post(query) else { return }
    query.finish(.failure(.failed("the process may open no further files")))
  }

  /// Lets the caller of a lookup go; what was sent for it is dropped with the last one that shares its channel.
  func cancel(_ query: CaresQuery) {
    query.finish(.failure(.cancelled))
    loop.wake()
  }

  /// Whether there is a thread.
  var isRunning: Bool { loop.isRunning }
}
