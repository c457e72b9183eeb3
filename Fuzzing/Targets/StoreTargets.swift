// SPDX-License-Identifier: Apache-2.0
import CDirectDNSHiredis

@testable import DirectDNS
@testable import DirectDNSRedis
@testable import DnsctlCommands

extension FuzzTarget {
  /// What others may have written into a store.
  static let stores = [
    FuzzTarget("stored-answer", storedAnswer),
    FuzzTarget("answer-line", answerLine),
    FuzzTarget("redis-reply", redisReply),
  ]

  /// A row's line.
  private static func storedAnswer(_ bytes: [UInt8]) throws(BrokenRule) {
    let text = bytes.asText
    for question in Asked.questions {
      guard let answer = StoredAnswer(text: text, to: question) else { continue }
      try require(
        StoredAnswer(text: answer.text, to: question).map { $0.text == answer.text } == true,
        "an answer changes when it is written: \(answer.text)")
      try check(answer)
    }
  }

  /// A line of an export.
  private static func answerLine(_ bytes: [UInt8]) throws(BrokenRule) {
    let line = bytes.asText
    if case .failure(let error) = Result(catching: { () throws(DirectDNSError) in try AnswerFile.checkHead(line) }) {
      try require(
        error.message.printable == error.message, "an error cannot be shown: \(error.message.debugDescription)")
    }
    guard let answer = try? AnswerFile.answer(line) else { return }
    try check(answer)
    try require((try? AnswerFile.answer(JSONLine(answer).object)) == answer, "an answer changes when it is exported")
  }

  /// Whatever its instants are, an answer has a place in time, and lives no longer than the policy lets it.
  private static func check(_ answer: StoredAnswer) throws(BrokenRule) {
    let policy = CachePolicy()
    for now: Int64 in [.min, -1, 0, 1_700_000_000_000, .max] {
      let state = answer.state(at: WallInstant(milliseconds: now), policy: policy)
      try require(state.age >= .zero, "an age of \(state.age)")
      try require(state.timeLeft <= policy.maximumTTL + WallTime.tolerance, "\(state.timeLeft) are left")
      var time = WallTime(wall: WallInstant(milliseconds: now), now: ResolverInstant(nanoseconds: 0))
      time.look(wall: answer.asked, now: ResolverInstant(nanoseconds: 1))
      _ = time.life(of: answer, policy)
    }
  }

  /// A server's bytes, as hiredis reads them: replies of any kind, and keys.
  private static func redisReply(_ bytes: [UInt8]) throws(BrokenRule) {
    for reply in replies(in: bytes) {
      for text in texts(in: reply) {
        let keys = RedisKeys(prefix: "directdns:")
        guard let question = keys.question(text) else { continue }
        try require(keys.answer(question) == text, "a key finds another answer: \(text.debugDescription)")
      }
    }
  }

  private static func texts(in reply: RedisReply) -> [String] {
    switch reply {
    case .text(let text), .status(let text), .error(let text): [text]
    case .array(let array): array.flatMap(texts)
    case .integer, .null: []
    }
  }

  private static func replies(in bytes: [UInt8]) -> [RedisReply] {
    // hiredis makes room for as many elements as an array promises, before they come: that is its own to bound.
    guard !bytes.split(whereSeparator: { !(0x30...0x39).contains($0) }).contains(where: { $0.count > 4 }),
      let reader = unsafe redisReaderCreate()
    else { return [] }
    defer { unsafe redisReaderFree(reader) }
    guard unsafe redisReaderFeed(reader, bytes.map { CChar(truncatingIfNeeded: $0) }, bytes.count) == REDIS_OK else {
      return []
    }
    var replies: [RedisReply] = []
    var next: UnsafeMutableRawPointer?
    while unsafe redisReaderGetReply(reader, &next) == REDIS_OK, let found = unsafe next {
      let reply = unsafe found.assumingMemoryBound(to: redisReply_.self)
      if let known = unsafe RedisReply(reply) { replies.append(known) }
      unsafe freeReplyObject(found)
      unsafe next = nil
    }
    return replies
  }

  private typealias redisReply_ = CDirectDNSHiredis.redisReply
}
