// SPDX-License-Identifier: Apache-2.0
/// The keys of `dnsctl watch` on a terminal.
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

  /// The list of keys that is shown.
  static let legend = "q quit · ? these keys · Ctrl-C interrupt"

  /// The keys as they are pressed.
  ///
  /// A read cannot be cancelled: its task is unstructured, so that the reader of the stream can end before it.
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
