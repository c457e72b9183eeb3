// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// A file that an option names.
package enum InputFile {
  /// A secret in an option: the text itself, or for `@FILE` the first line of that file, which no list of processes
  /// shows.
  static func secret(
    _ text: String, for option: String, by readFile: (String) throws(StreamError) -> [UInt8]?
  ) throws(CommandError) -> String {
    guard text.hasPrefix("@") else { return text }
    let bytes = try read(String(text.dropFirst()), for: option, by: readFile)
    var line = bytes.prefix { $0 != UInt8(ascii: "\n") }
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    guard let secret = String(validating: line, as: UTF8.self), !secret.isEmpty else {
      throw CommandError(.streams, "\(option): the first line of \(text.dropFirst()) is empty, or not UTF-8.")
    }
    return secret
  }

  /// Refuses an empty name, as a script's empty variable gives.
  static func check(_ path: String, of option: String) throws(CommandError) {
    guard !path.isEmpty else { throw CommandError(.usage, "\(option): the name of the file is empty.") }
  }

  /// A file's content as curl puts it into an option: without line ends, and without NUL.
  static func withoutLineEnds(_ bytes: [UInt8]) -> [UInt8] { bytes.filter { $0 != 0x0d && $0 != 0x0a && $0 != 0 } }

  package static func read(
    _ path: String, for option: String, by readFile: (String) throws(StreamError) -> [UInt8]?
  ) throws(CommandError) -> [UInt8] {
    try check(path, of: option)
    let bytes: [UInt8]?
    do throws(StreamError) { bytes = try readFile(path) } catch {
      throw CommandError(.streams, "\(option): \(path.printable) cannot be read: \(error.reason).")
    }
    guard let bytes else { throw CommandError(.streams, "\(option): there is no file \(path.printable).") }
    return bytes
  }
}
