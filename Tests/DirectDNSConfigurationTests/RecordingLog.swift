// SPDX-License-Identifier: Apache-2.0
import Logging

@testable import DirectDNS

/// Keeps every line of a log.
struct RecordingLog: LogHandler {
  let lines = Locked<[String]>([])
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.trace

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let details = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    lines.withLock { $0.append("\(event.level) \(event.message) \(details.joined(separator: " "))") }
  }

  var logger: Logger { Logger(label: "test", factory: { _ in self }) }
  var text: String { lines.withLock { $0.joined(separator: "\n") } }
}
