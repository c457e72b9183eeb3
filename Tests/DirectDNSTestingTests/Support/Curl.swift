// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The `curl` command line as an independent client: it knows nothing of the server under test.
struct Curl {
  /// What curl said.
  struct Reply {
    /// curl's exit status; 0 is success.
    let exit: Int32
    /// The status line and fields, as they came.
    let head: String
    let body: [UInt8]

    /// The HTTP status, or 0 without a response.
    var status: Int { head.split(separator: " ").dropFirst().first.flatMap { Int($0.prefix(3)) } ?? 0 }
    var text: String { String(decoding: body, as: UTF8.self) }

    func field(_ name: String) -> String? {
      head.split(separator: "\r\n")
        .first { $0.lowercased().hasPrefix(name.lowercased() + ":") }
        .map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
    }

    /// The body's JSON object, or an empty one.
    var json: [String: Any] {
      (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] ?? [:]
    }
  }

  /// Runs curl with these arguments and waits for its end.
  static func run(_ arguments: String..., input: [UInt8]? = nil) async throws -> Reply {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
    process.arguments = ["-sS", "-i", "--noproxy", "*", "--max-time", "20"] + arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    let standardInput = Pipe()
    process.standardInput = standardInput
    async let exit = withCheckedThrowingContinuation { (end: CheckedContinuation<Int32, any Error>) in
      process.terminationHandler = { end.resume(returning: $0.terminationStatus) }
      do { try process.run() } catch { end.resume(throwing: error) }
      if let input { try? standardInput.fileHandleForWriting.write(contentsOf: Data(input)) }
      try? standardInput.fileHandleForWriting.close()
    }
    let bytes = await withCheckedContinuation { end in
      Thread.detachNewThread { end.resume(returning: output.fileHandleForReading.readDataToEndOfFile()) }
    }
    let code = try await exit
    guard let end = bytes.range(of: Data("\r\n\r\n".utf8)) else {
      return Reply(exit: code, head: "", body: Array(bytes))
    }
    return Reply(
      exit: code, head: String(decoding: bytes[..<end.lowerBound], as: UTF8.self),
      body: Array(bytes[end.upperBound...]))
  }
}
