// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  @unsafe @preconcurrency internal import Musl
#else
  @unsafe @preconcurrency internal import Glibc
#endif

/// The process's arguments.
package enum ProcessArguments {
  /// Whether they could be read: Swift reads them from /proc, and otherwise has not even the program's name.
  static var areKnown: Bool { CommandLine.argc > 0 }

  static let unknownText = """
    dnsctl: the arguments cannot be read from /proc/self/cmdline. See that /proc is mounted, and that this process may \
    open files (ulimit -n).

    """

  private static let taken = Mutex<[[UInt8]]>([])

  /// The arguments after the program's name, byte for byte; empty before ``take()``.
  ///
  /// A file's name need not be UTF-8.
  package static var bytes: [[UInt8]] { taken.withLock(\.self) }

  /// The program of `exec` with its arguments, byte for byte; empty for other commands.
  package static var program: [[UInt8]] {
    let bytes = bytes
    guard bytes.first == Array("exec".utf8) else { return [] }
    let words = bytes.dropFirst(OptionWords.programPlace(in: bytes.map { String(decoding: $0, as: UTF8.self) }))
    return Array(words.first == Array("--".utf8) ? words.dropFirst() : words)
  }

  /// Refuses arguments that are not UTF-8, which would be changed silently in their text.
  ///
  /// - Parameter count: how many of the arguments are the command's own.
  /// - Throws: which one it is.
  static func refuseOtherBytes(among count: Int) throws(CommandError) {
    guard let place = bytes.prefix(count).firstIndex(where: { String(validating: $0, as: UTF8.self) == nil }) else {
      return
    }
    throw CommandError(
      .usage,
      "argument \(place + 1) is not UTF-8. Write a name or a URL as UTF-8, rename a file, and give a body's bytes in one: fetch --data-binary @FILE."
    )
  }

  /// The environment variables, byte for byte, each `NAME=VALUE`.
  package static var environment: [[UInt8]] {
    var variables: [[UInt8]] = []
    #if canImport(Darwin)
      var place = unsafe _NSGetEnviron()?.pointee
    #else
      var place: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe environ
    #endif
    while let here = unsafe place, let variable = unsafe here.pointee {
      let bytes = unsafe UnsafeRawBufferPointer(start: variable, count: strlen(variable))
      unsafe variables.append(Array(bytes))
      unsafe place = here + 1
    }
    return variables
  }

  /// Makes the parser write its help for at least 40 columns, at a narrower terminal too.
  ///
  /// It puts the help of options after 26 columns; with fewer it leaves that out, and a debug build traps
  /// (swift-argument-parser 1.8.2). No child process that could inherit the variable is started after this.
  static func widenHelp() {
    let least = 40
    let asked = unsafe getenv("COLUMNS").flatMap { unsafe Int(String(cString: $0)) }
    guard (asked ?? StandardDescriptor.windowSize().columns) < least else { return }
    unsafe setenv("COLUMNS", "\(least)", 1)
  }

  /// The arguments after the program's name, as text.
  ///
  /// Secrets among them are overwritten where the system shows them, so that they are visible only for a moment when
  /// the process starts. This changes nothing on a system that keeps a copy of its own.
  static func take() -> [String] {
    let arguments = Array(CommandLine.arguments.dropFirst())
    let words = unsafe pointers
    let copies = unsafe words.map { unsafe Array($0) }
    taken.withLock { $0 = copies }
    for (index, range) in SecretArguments.ranges(in: copies).enumerated() {
      for place in range { unsafe words[index][place] = UInt8(ascii: "*") }
    }
    return arguments
  }

  /// The arguments after the program's name, byte for byte, as the system shows them; secrets only before ``take()``.
  package static var shown: [[UInt8]] { unsafe pointers.map { unsafe Array($0) } }

  private static var pointers: [UnsafeMutableBufferPointer<UInt8>] {
    var words: [UnsafeMutableBufferPointer<UInt8>] = unsafe []
    for index in 1..<max(1, Int(CommandLine.argc)) {
      guard let word = unsafe CommandLine.unsafeArgv[index] else { break }
      let count = unsafe strlen(word)
      let bytes = unsafe UnsafeMutableRawPointer(word).assumingMemoryBound(to: UInt8.self)
      unsafe words.append(UnsafeMutableBufferPointer(start: bytes, count: count))
    }
    return unsafe words
  }
}
