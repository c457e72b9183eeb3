// SPDX-License-Identifier: Apache-2.0
/// What a server replied to one command.
enum RedisReply: Sendable, Hashable {
  case text(String)
  case status(String)
  case integer(Int64)
  case null
  case array([RedisReply])
  /// An error's first word, such as `OOM`: the rest may repeat what was sent.
  case error(String)

  var text: String? { if case .text(let text) = self { text } else { nil } }
  var array: [RedisReply] { if case .array(let array) = self { array } else { [] } }
}

/// A command as it goes on the wire: an array of bulk strings (the RESP protocol).
struct RedisCommand: Sendable, Hashable {
  var words: [String]

  init(_ words: String...) { self.words = words }

  init(_ name: String, _ rest: [String]) { words = [name] + rest }

  var bytes: [UInt8] {
    var bytes = Array("*\(words.count)\r\n".utf8)
    for word in words {
      bytes += "$\(word.utf8.count)\r\n".utf8
      bytes += word.utf8
      bytes += "\r\n".utf8
    }
    return bytes
  }
}
