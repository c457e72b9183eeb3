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
  /// Whether there are any: Swift reads them from /proc, and has not even the program's name where it cannot.
  static var areKnown: Bool { CommandLine.argc > 0 }

  static let unknownText = """
    dnsctl: the arguments cannot be read from /proc/self/cmdline. See that /proc is mounted, and that this process may \
    open files (ulimit -n).

    """

  private static let taken = Mutex<[[UInt8]]>([])

  /// The arguments behind the program's name as they came; empty before ``take()``.
  ///
  /// A file's name need not be UTF-8.
  package static var bytes: [[UInt8]] { taken.withLock(\.self) }

  /// Refuses arguments that are not UTF-8, which the text of them would change without a word.
  ///
  /// What `exec` runs is a program with arguments of its own.
  static func refuseOtherBytes() throws(SettingsError) {
    let bytes = bytes
    guard bytes.first != Array("exec".utf8),
      let place = bytes.firstIndex(where: { String(validating: $0, as: UTF8.self) == nil })
    else { return }
    throw SettingsError(
      .usage,
      "argument \(place + 1) is not UTF-8. Rename the file that it names, or give the bytes in a file: --data-binary @FILE."
    )
  }

  /// The process's variables as they came, each `NAME=VALUE`.
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

  /// Has the parser write its help for 40 columns at least, at a narrower terminal too.
  ///
  /// It sets what it says of options behind 26 columns: in fewer it leaves that out, and ends a debug build
  /// (swift-argument-parser 1.8.2). Nobody is started any more from an environment that says so.
  static func widenHelp() {
    let least = 40
    let asked = unsafe getenv("COLUMNS").flatMap { unsafe Int(String(cString: $0)) }
    guard (asked ?? StandardDescriptor.windowSize().columns) < least else { return }
    unsafe setenv("COLUMNS", "\(least)", 1)
  }

  /// The arguments behind the program's name, as text.
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
    taken.withLock { $0 = copies }
    for (index, range) in SecretArguments.ranges(in: copies).enumerated() {
      for place in range { unsafe words[index][place] = UInt8(ascii: "*") }
    }
    return arguments
  }
}
