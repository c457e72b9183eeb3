// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import DirectDNSProxy
internal import DnsctlCommands
internal import Dispatch
internal import Synchronization

/// Writes the access log in the background, so that a slow reader delays no connection.
///
/// Lines beyond ``room`` are dropped and counted; the count is written as soon as there is room.
final class AccessLogWriter: Sendable {
  private struct State {
    var lines: [String] = []
    /// The bytes of these lines.
    var size = 0
    var dropped = 0
    var isWriting = false
    /// Whether the last write failed.
    var hasFailed = false
  }

  /// The most bytes of lines that wait.
  static let room = 8 << 20

  private let format: AccessLogFormat
  private let showsPaths: Bool
  private let showsProbes: Bool
  private let output: any OutputSink
  private let clock: any ResolverClock
  private let reportError: @Sendable (String) -> Void
  private let queue = DispatchQueue(label: "dnsctl.access-log")
  private let state = Mutex(State())

  /// Creates one.
  ///
  /// - Parameters:
  ///   - format: how a line is written.
  ///   - showsPaths: whether lines have paths.
  ///   - showsProbes: whether health checks are logged, which come every few seconds and would be most of the lines.
  ///   - output: where they go.
  ///   - clock: what tells the time of day.
  ///   - reportError: called when a write fails, and again only if one has succeeded in between.
  init(
    _ format: AccessLogFormat, showsPaths: Bool, showsProbes: Bool = false, _ output: any OutputSink,
    clock: any ResolverClock,
    reportError: @escaping @Sendable (String) -> Void
  ) {
    self.format = format
    self.showsPaths = showsPaths
    self.showsProbes = showsProbes
    self.output = output
    self.clock = clock
    self.reportError = reportError
  }

  func write(_ access: ProxyAccess) {
    guard showsProbes || !access.isProbe else { return }
    let line = format.line(access, showsPath: showsPaths, ended: clock.wallNow)
    let begins = state.withLock { state in
      guard state.size + line.utf8.count <= Self.room else {
        state.dropped += 1
        return false
      }
      state.lines.append(line)
      state.size += line.utf8.count
      defer { state.isWriting = true }
      return !state.isWriting
    }
    if begins { queue.async { self.writeAll() } }
  }

  /// Waits until all lines are written, but not longer than the limit: a reader that is stuck must not keep the
  /// process.
  ///
  /// - Parameter limit: two seconds by default.
  /// - Returns: whether they are.
  @discardableResult
  func flush(within limit: DispatchTimeInterval = .seconds(2)) -> Bool {
    let done = DispatchSemaphore(value: 0)
    queue.async { done.signal() }
    return done.wait(timeout: .now() + limit) == .success
  }

  private func writeAll() {
    while true {
      let (lines, dropped) = state.withLock { state in
        defer {
          state.isWriting = !state.lines.isEmpty
          state.lines = []
          state.size = 0
          state.dropped = 0
        }
        return (state.lines, state.dropped)
      }
      guard !lines.isEmpty else { return }
      var text = lines.joined()
      if dropped > 0 {
        text += format == .json ? "{\"dropped\":\(dropped)}\n" : "# \(dropped) lines found no room\n"
      }
      let failure: StreamError?
      do throws(StreamError) {
        try output.write(text)
        failure = nil
      } catch { failure = error }
      let isNews = state.withLock { state in
        defer { state.hasFailed = failure != nil }
        return !state.hasFailed
      }
      if let failure, isNews {
        reportError("the access log cannot be written: \(failure.reason). Requests go on, and their lines are lost.")
      }
    }
  }
}
