// SPDX-License-Identifier: Apache-2.0
import DirectDNS

/// What a hostile server sends for a request: HTTP that is nearly right, made from a seed so that it can be repeated.
///
/// Each answer begins as a valid one, and then goes wrong somewhere: a number at a limit, a repeated field, a wrong
/// length, something endless, an end at any byte, or a frame where none is allowed.
package struct HostileScript: Sendable {
  /// The version of HTTP that is abused.
  package enum Language: Sendable, CaseIterable { case http1, http2 }

  /// What the server does, one after the other.
  package enum Step: Sendable {
    /// Sends bytes.
    case send([UInt8])
    /// Sends bytes repeatedly, as long as the client reads them, up to ``HostileServer/endlessLimit``.
    case endless([UInt8])
    /// Sends nothing more, and leaves the connection open.
    case hold
    /// Closes the connection.
    case close
    /// Resets it.
    case reset
  }

  /// A body that a client can use, and its type; what is sent may differ.
  package struct Content: Sendable {
    package var type: String
    package var bytes: [UInt8]

    package init(type: String, bytes: [UInt8]) {
      self.type = type
      self.bytes = bytes
    }

    package static let page = Content(type: "text/plain", bytes: Array("hello".utf8))
  }

  package let seed: UInt64
  package let language: Language
  private let content: Content

  /// Creates a script.
  ///
  /// - Parameters:
  ///   - seed: the seed that it is made from.
  ///   - language: the version of HTTP; by default the seed decides.
  ///   - content: the content of an answer without faults.
  package init(seed: UInt64, language: Language? = nil, content: Content = .page) {
    self.seed = seed
    self.language = language ?? (seed.isMultiple(of: 2) ? .http1 : .http2)
    self.content = content
  }

  /// The answer to a request.
  ///
  /// - Parameters:
  ///   - request: the request's number on its connection, from 0.
  ///   - stream: its stream, in HTTP/2.
  /// - Returns: what the server does.
  package func steps(request: Int, stream: UInt32) -> [Step] {
    var dice = Dice(seed: seed &* 1_000_003 &+ UInt64(request))
    switch language {
    case .http1 where foldsLines: return Self.folded(content, request: request, &dice)
    case .http1: return Self.http1(content, &dice)
    case .http2: return Self.http2(content, isFirst: request == 0, stream: stream, &dice)
    }
  }

  /// Cuts a message off somewhere, splits it into pieces, and ends it.
  static func staged(_ bytes: [UInt8], _ dice: inout Dice) -> [Step] {
    var bytes = bytes[...]
    let isCut = dice.chance(4)
    if isCut, !bytes.isEmpty { bytes = bytes.prefix(dice.number(below: bytes.count)) }
    if dice.chance(10), let place = bytes.indices.randomElement(using: &dice) {
      bytes[place] = UInt8(dice.number(below: 256))
    }
    var steps: [Step] = []
    while !bytes.isEmpty {
      let count = dice.chance(3) ? 1 + dice.number(below: min(bytes.count, 40)) : bytes.count
      steps.append(.send(Array(bytes.prefix(count))))
      bytes = bytes.dropFirst(count)
      // A few pieces are enough.
      if steps.count > 6, !bytes.isEmpty {
        steps.append(.send(Array(bytes)))
        break
      }
    }
    // Without an end a client has to wait, which is slow and seldom shows anything new.
    if dice.chance(60) { return steps + [.hold] }
    return steps + (dice.chance(6) ? [.reset] : isCut || dice.chance(2) ? [.close] : [])
  }
}

/// Random choices from a seed.
package struct Dice: RandomNumberGenerator, Sendable {
  private var generator: SeededGenerator

  package init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  package mutating func next() -> UInt64 { generator.next() }

  /// True with a probability of one in `times`.
  package mutating func chance(_ times: Int) -> Bool { number(below: times) == 0 }

  package mutating func number(below limit: Int) -> Int { Int(next() % UInt64(max(1, limit))) }

  /// One of several values, of which there has to be at least one.
  package mutating func one<Value>(of values: [Value]) -> Value { values[number(below: values.count)] }

  package mutating func bytes(upTo count: Int) -> [UInt8] {
    (0..<number(below: count + 1)).map { _ in UInt8(truncatingIfNeeded: next()) }
  }
}
