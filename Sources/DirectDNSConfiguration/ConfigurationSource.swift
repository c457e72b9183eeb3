// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Where a configuration's bytes come from.
protocol ConfigurationSource: Sendable {
  /// What the source is called, for errors and logs.
  var name: String { get }

  /// What tells one state of it from the next; nil if there is nothing.
  func stamp() -> FileStamp?

  /// The bytes as they are now.
  func read() throws(ConfigurationFault) -> [UInt8]
}

/// A file by its path: whatever the path leads to at the moment.
struct ConfigurationPath: ConfigurationSource {
  let name: String

  func stamp() -> FileStamp? { FileStamp(of: name) }

  func read() throws(ConfigurationFault) -> [UInt8] {
    do {
      return Array(try Data(contentsOf: URL(filePath: name)))
    } catch {
      let reason =
        switch (error as? CocoaError)?.code {
        case .fileReadNoSuchFile?: "there is no such file"
        case .fileReadNoPermission?: "this process has no right to"
        default: "\(error)"
        }
      throw ConfigurationFault("\(name): the configuration file cannot be read: \(reason).")
    }
  }
}
