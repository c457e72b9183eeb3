// SPDX-License-Identifier: Apache-2.0
import Foundation

/// AES-128-CBC by the `openssl` command line, an implementation apart from the server's.
enum OpenSSL {
  /// hex(IV ‖ ciphertext) under an IV of zeros and ones.
  static func encrypt(_ text: String, key: String) throws -> String {
    try encrypt(text, hexKey: hex(Data(key.utf8)))
  }

  static func encrypt(_ text: String, hexKey: String) throws -> String {
    let iv = String(repeating: "01", count: 16)
    return iv + hex(try run(["-e", "-iv", iv], key: hexKey, input: Data(text.utf8)))
  }

  static func decrypt(_ text: String, key: String) throws -> String {
    let bytes = text.chunked(2).compactMap { UInt8($0, radix: 16) }
    let plain = try run(
      ["-d", "-iv", String(text.prefix(32))], key: hex(Data(key.utf8)), input: Data(bytes.dropFirst(16)))
    return String(decoding: plain, as: UTF8.self)
  }

  static func decrypt(base64: String, hexKey: String) throws -> String {
    let bytes = Data(base64Encoded: base64) ?? Data()
    let plain = try run(["-d", "-iv", hex(bytes.prefix(16))], key: hexKey, input: bytes.dropFirst(16))
    return String(decoding: plain, as: UTF8.self)
  }

  private static func run(_ arguments: [String], key: String, input: Data) throws -> Data {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
    process.arguments = ["enc", "-aes-128-cbc", "-K", key] + arguments
    let (into, outOf) = (Pipe(), Pipe())
    process.standardInput = into
    process.standardOutput = outOf
    process.standardError = FileHandle.nullDevice
    try process.run()
    try into.fileHandleForWriting.write(contentsOf: input)
    try into.fileHandleForWriting.close()
    return outOf.fileHandleForReading.readDataToEndOfFile()
  }

  private static func hex(_ bytes: Data) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}

extension Collection where SubSequence == SubSequence.SubSequence {
  /// The collection in pieces of so many elements.
  func chunked(_ count: Int) -> [SubSequence] {
    var rest = self[...]
    var pieces: [SubSequence] = []
    while !rest.isEmpty {
      pieces.append(rest.prefix(count))
      rest = rest.dropFirst(count)
    }
    return pieces
  }
}
