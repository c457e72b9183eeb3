// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// The path of a configuration, and whatever file it leads to at the moment.
struct ConfigurationPath: Sendable {
  /// The path, also for errors and logs.
  let name: String

  /// Far more bytes than any configuration has.
  static let limit = 16 << 20

  /// Distinguishes one state of the file from the next; nil if there is no file.
  func stamp() -> FileStamp? { FileStamp(of: name) }

  /// The bytes as they are now.
  ///
  /// - Parameter waits: whether to wait for a FIFO's writer.
  /// - Returns: the bytes.
  /// - Throws: why they cannot be read.
  func read(waits: Bool) throws(ConfigurationFault) -> [UInt8] {
    do throws(FileFailure) {
      // A device or a pipe may never end.
      if let bytes = try ReadableFile(name, waits: waits).readToEnd(limit: Self.limit) { return bytes }
    } catch {
      let reason =
        error.isMissing ? "there is no such file" : error.isForbidden ? "this process has no right to" : error.reason
      throw .passing("\(name): the configuration file cannot be read: \(reason).")
    }
    throw ConfigurationFault("\(name): that is not a configuration file: it is longer than 16 MiB.")
  }
}
