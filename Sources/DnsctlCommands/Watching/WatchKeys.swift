// SPDX-License-Identifier: Apache-2.0
/// What the keys do while `dnsctl watch` draws on a terminal.
enum WatchKey: Sendable, Hashable {
  case quit
  case help

  init?(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "q"), UInt8(ascii: "Q"): self = .quit
    case UInt8(ascii: "?"), UInt8(ascii: "h"): self = .help
    default: return nil
    }
  }

  /// What is said of them.
  static let legend = "q quit · ? these keys · Ctrl-C interrupt"

  /// The keys as they are pressed.
  ///
  /// A read cannot be called back: its task is nobody's child, so that whoever listens can leave.
  static func pressed(in context: CommandContext) -> AsyncStream<WatchKey> {
    let (keys, feed) = AsyncStream.makeStream(of: WatchKey.self)
    let input = context.input
    Task {
      while let bytes = try? await input.read(), !bytes.isEmpty {
        for key in bytes.compactMap(WatchKey.init) { feed.yield(key) }
      }
    }
    return keys
  }
}
