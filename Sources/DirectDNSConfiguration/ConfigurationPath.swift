// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// Where a configuration's bytes come from: whatever its path leads to at the moment.
struct ConfigurationPath: Sendable {
  /// The path, for errors and logs too.
  let name: String

  /// Far more than any configuration has, in bytes.
  static let limit = 16 << 20

  /// What tells one state of the file from the next; nil if there is none.
  func stamp() -> FileStamp? { FileStamp(of: name) }

  /// The bytes as they are now.
  ///
  /// - Parameter waits: whether a FIFO is waited for.
  /// - Returns: the bytes.
  /// - Throws: why they cannot be read.
  func read(waits: Bool) throws(ConfigurationFault) -> [UInt8] {
    do throws(FileFailure) {
      let file = try ReadableFile(name, waits: waits)
      var bytes: [UInt8] = []
      while true {
        let piece = try file.read(1 << 16)
        if piece.isEmpty { return bytes }
        bytes += piece
        // A device or a pipe need not end.
        guard bytes.count <= Self.limit else { break }
      }
    } catch {
      let reason =
        error.isMissing ? "there is no such file" : error.isForbidden ? "this process has no right to" : error.reason
      throw .passing("\(name): the configuration file cannot be read: \(reason).")
    }
    throw ConfigurationFault("\(name): that is no configuration file: it is longer than 16 MiB.")
  }
}
