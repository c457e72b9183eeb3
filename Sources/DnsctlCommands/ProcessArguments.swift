// SPDX-License-Identifier: Apache-2.0
#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The process's arguments.
enum ProcessArguments {
  /// Whether there are any: Swift reads them from /proc, and has not even the program's name where it cannot.
  static var areKnown: Bool { CommandLine.argc > 0 }

  static let unknownText = """
    dnsctl: the arguments cannot be read from /proc/self/cmdline. See that /proc is mounted, and that this process may \
    open files (ulimit -n).

    """

  /// The arguments behind the program's name.
  ///
  /// What is secret among them is written over where the system shows it, so that it can be seen for the moment of the
  /// process's start alone. Where a system keeps a copy of its own this changes nothing.
  static func take() -> [String] {
    let arguments = Array(CommandLine.arguments.dropFirst())
    var words: [UnsafeMutableBufferPointer<UInt8>] = unsafe []
    for index in 1..<max(1, Int(CommandLine.argc)) {
      guard let word = unsafe CommandLine.unsafeArgv[index] else { break }
      let count = unsafe strlen(word)
      let bytes = unsafe UnsafeMutableRawPointer(word).assumingMemoryBound(to: UInt8.self)
      unsafe words.append(UnsafeMutableBufferPointer(start: bytes, count: count))
    }
    let copies = unsafe words.map { unsafe Array($0) }
    for (index, range) in SecretArguments.ranges(in: copies).enumerated() {
      for place in range { unsafe words[index][place] = UInt8(ascii: "*") }
    }
    return arguments
  }
}
