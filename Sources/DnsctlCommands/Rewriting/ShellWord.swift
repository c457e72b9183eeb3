// SPDX-License-Identifier: Apache-2.0
/// A word quoted so that a POSIX shell reads exactly its bytes (POSIX.1-2017, XCU 2.2.2).
///
/// By bytes, as a shell reads it: a `Character` may be an apostrophe *and* the combining mark after it, which is an
/// apostrophe to the shell but not to Swift.
struct ShellWord: Sendable, Hashable {
  /// The word, quoted where it must be.
  let quoted: [UInt8]

  /// Quotes bytes; nil if there is a NUL among them, which ends every argument (execve(2)).
  init?(_ bytes: some Collection<UInt8>) {
    guard !bytes.contains(0) else { return nil }
    guard bytes.isEmpty || !bytes.allSatisfy(Self.isPlain) else {
      quoted = Array(bytes)
      return
    }
    var quoted = [Self.apostrophe]
    for byte in bytes {
      // Between apostrophes, all bytes except the apostrophe stand for themselves.
      if byte == Self.apostrophe { quoted += Array("'\\''".utf8) } else { quoted.append(byte) }
    }
    self.quoted = quoted + [Self.apostrophe]
  }

  private static let apostrophe = UInt8(ascii: "'")

  /// Whether a byte has no meaning to a shell, wherever it is.
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "/"),
      UInt8(ascii: ":"), UInt8(ascii: "_"), UInt8(ascii: "="), UInt8(ascii: ","), UInt8(ascii: "%"),
      UInt8(ascii: "@"):
      true
    default: false
    }
  }
}
