// SPDX-License-Identifier: Apache-2.0
public import DirectDNS
internal import Logging

/// Reading the file again: a change is applied as a whole, or not at all.
extension LiveConfiguration {
  /// The outcome of a reading, as a label.
  enum Outcome: String, CaseIterable { case applied, unchanged, refused }

  /// Reads the file again, whether or not it has changed.
  ///
  /// - Returns: what changed.
  /// - Throws: why the file cannot be used; the earlier settings stay in force.
  @discardableResult
  public func reload() throws(DirectDNSError) -> SettingsDifference {
    let outcome = changing.withLock { _ in read() }
    report(outcome)
    return try outcome.get()
  }

  /// Reads the file again if it has changed, or if the last reading failed for a reason that may pass.
  func reloadIfChanged() {
    let outcome = changing.withLock { _ -> Result<SettingsDifference, DirectDNSError>? in
      let (stamp, passing) = state.withLock { ($0.stamp, $0.passing) }
      guard FileStamp(of: path) == stamp else { return read() }
      guard let passing else { return nil }
      let outcome = read()
      if case .failure(let error) = outcome, error.message == passing { return nil }
      return outcome
    }
    if let outcome { report(outcome) }
  }

  /// Applies the file: all of it, or nothing.
  private func read() -> Result<SettingsDifference, DirectDNSError> {
    let stamp = FileStamp(of: path)
    let before = state.withLock { state in
      state.stamp = stamp
      state.passing = nil
      return state.settings
    }
    let settings: DirectSettings
    do throws(ConfigurationFault) {
      // Other changes wait during this.
      settings = try Self.settings(path, waits: false, by: reading)
    } catch {
      return failure(error.error, mayPass: error.mayPass)
    }
    do throws(DirectDNSError) { try check(settings) } catch {
      return failure(named(error), mayPass: false)
    }
    // Applied even without a visible difference: the program may have changed what a difference does not show.
    let difference = SettingsDifference(from: before, to: settings)
    do throws(ConfiguredObjects.Fault) {
      try state.withLock(\.kept).apply(settings, orGoBackTo: before)
    } catch {
      // If some objects had applied it, another try would switch them back and forth.
      return failure(named(error.error), mayPass: !error.wentBack)
    }
    state.withLock { $0.settings = settings }
    return .success(difference)
  }

  /// An error that begins with the file's name, as one about a file of `ca` does already.
  private func named(_ error: DirectDNSError) -> DirectDNSError {
    let name = "\(path.printable): "
    return DirectDNSError(error.code, error.message.hasPrefix(name) ? error.message : name + error.message)
  }

  private func failure(_ error: DirectDNSError, mayPass: Bool) -> Result<SettingsDifference, DirectDNSError> {
    // A missing file is noticed when it appears.
    state.withLock { $0.passing = mayPass && $0.stamp != nil ? error.message : nil }
    return .failure(error)
  }

  private func report(_ outcome: Result<SettingsDifference, DirectDNSError>) {
    warnOfWriters()
    // The observer may be calling this, or be called by another thread: a changed file and SIGHUP may come together.
    let (wasRefused, isBeingTold) = state.withLock { state in
      let wasRefused = exchange(&state.isRefused, with: (try? outcome.get()) == nil)
      state.untold.append((outcome, wasRefused))
      return (wasRefused, state.untold.count > 1)
    }
    let label: Outcome
    switch outcome {
    case .success(let difference):
      label = difference.isEmpty ? .unchanged : .applied
      if difference.isEmpty {
        // Whoever saw the refusal is told of its end.
        logger.log(
          level: wasRefused ? .notice : .info, "configuration read: nothing has changed",
          metadata: ["file": "\(path.printable)"])
      }
      for change in difference.changes {
        logger.notice("configuration changed", metadata: ["file": "\(path.printable)", "change": "\(change)"])
      }
    case .failure(let error):
      label = .refused
      logger.error(
        "the configuration file cannot be used: the previous configuration stays in force",
        metadata: ["reason": "\(error.message)"])
    }
    MetricSource().count(.configurationReads, label.rawValue)
    if !isBeingTold { tell() }
  }

  /// Calls the observer until it has been told of every reading.
  private func tell() {
    while true {
      // With the settings of this moment: who goes by what it was told last goes by what is in force.
      let (reading, settings) = state.withLock { ($0.untold[0], $0.settings) }
      observer(reading.outcome, settings, reading.wasRefused)
      let isLast = state.withLock { state in
        state.untold.removeFirst()
        return state.untold.isEmpty
      }
      if isLast { return }
    }
  }
}
