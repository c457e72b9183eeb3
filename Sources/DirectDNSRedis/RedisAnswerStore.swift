// SPDX-License-Identifier: Apache-2.0
public import DirectDNS

/// Answers on a Redis or Valkey server: the members of a fleet share them, and take turns to ask.
///
/// Answers are strings under `PREFIX` `answer:1:A:www.example.com` (the format's version, the record type, the name), and
/// leases under `PREFIX` `lease:A:www.example.com`. Each has a time to live, so the server removes them by itself.
///
/// Reading and leases have a thread and a connection of their own, so that lookups do not wait for what is written.
public final class RedisAnswerStore: FleetAnswerStore, NonBlocking {
  /// A hundred years: what is kept longer is kept as long, since Redis refuses instants that its clock cannot hold.
  private static let longest = Duration.seconds(100 * 365 * 86_400)

  private let keys: RedisKeys
  private let clock: any ResolverClock
  private let asker: RedisWorker
  private let writer: RedisWorker

  /// Creates a store; it connects when it is first used.
  ///
  /// - Parameters:
  ///   - configuration: the server, and how to talk to it.
  ///   - clock: the wall clock by which times to live are computed; by default the machine's.
  public init(_ configuration: RedisStoreConfiguration, clock: any ResolverClock = SystemClock()) {
    keys = RedisKeys(prefix: configuration.prefix)
    self.clock = clock
    let address = Locked<String?>(nil)
    asker = RedisWorker(configuration, "redis.ask", address: address)
    writer = RedisWorker(configuration, "redis.write", address: address, mayWait: true)
  }

  /// Always `redis`.
  public var name: String { "redis" }

  // MARK: Answers

  /// Reads the answers to questions.
  public func read(_ questions: [AddressQuestion]) async throws(DirectDNSError) -> [StoredAnswer] {
    guard !questions.isEmpty else {
      _ = try await asker.run([RedisCommand("PING")])
      return []
    }
    return try Self.answers(try await asker.run([reading(questions)])[0], to: questions)
  }

  private func reading(_ questions: [AddressQuestion]) -> RedisCommand {
    RedisCommand("MGET", questions.map(keys.answer))
  }

  private static func answers(
    _ reply: RedisReply, to questions: [AddressQuestion]
  ) throws(DirectDNSError) -> [StoredAnswer] {
    let values = try lines(reply, questions.count)
    return zip(questions, values).compactMap { question, line in
      line.flatMap { StoredAnswer(text: $0, to: question) }
    }
  }

  /// What `MGET` replied; nil for a key that is not there, or has no string.
  private static func lines(_ reply: RedisReply, _ count: Int) throws(DirectDNSError) -> [String?] {
    // Whoever took anything else for "nothing is known" would import nothing, and say that all of it is there. A proxy
    // may have an error in the place of a key whose server it does not reach: an export would be a part of all.
    guard case .array(let values) = reply, values.count == count,
      values.allSatisfy({ $0 == .null || $0.text != nil })
    else { throw unexpectedReply(to: "MGET") }
    return values.map(\.text)
  }

  /// Writes answers, which replace earlier ones to the same questions.
  public func write(_ answers: [StoredAnswer]) async throws(DirectDNSError) {
    let now = clock.wallNow
    let commands = answers.map { answer in
      let left = Self.lifetime(of: answer, at: now)
      let key = keys.answer(answer.question)
      return left > 0 ? RedisCommand("SET", key, answer.text, "PX", "\(left)") : RedisCommand("DEL", key)
    }
    guard !commands.isEmpty else { return }
    for reply in try await writer.run(commands) {
      switch reply {
      case .status("OK"), .integer: continue
      default: throw Self.unexpectedReply(to: "SET")
      }
    }
  }

  /// Writes those answers that were asked for later than the stored ones, also than what others write in between.
  public func writeNewer(_ answers: [StoredAnswer]) async throws(DirectDNSError) -> Int {
    let now = clock.wallNow
    var kept = 0
    var open = answers.filter { Self.lifetime(of: $0, at: now) > 0 }
    var rounds = 0
    while !open.isEmpty {
      rounds += 1
      let keys = open.map { self.keys.answer($0.question) }
      let lines = try Self.lines(try await writer.run([RedisCommand("MGET", keys)])[0], keys.count)
      var tried: [StoredAnswer] = []
      var commands: [RedisCommand] = []
      for ((answer, key), line) in zip(zip(open, keys), lines) {
        let known = line.flatMap { StoredAnswer(text: $0, to: answer.question) }
        if let known, !answer.isNewer(than: known, at: now) {
          // What was tried may stand there though its reply was lost with a connection, or another was as fast.
          if rounds > 1, line == answer.text { kept += 1 }
          continue
        }
        tried.append(answer)
        let left = Self.lifetime(of: answer, at: now)
        // Bytes that are no text never come back as they were sent, and what is no answer of ours is worth nothing.
        let isReadable = line == nil || known != nil
        commands.append(
          isReadable && rounds <= Self.roundLimit
            ? RedisCommand("EVAL", Self.replacing, "1", key, line ?? "", answer.text, "\(left)")
            : RedisCommand("SET", key, answer.text, "PX", "\(left)"))
      }
      guard !commands.isEmpty else { break }
      let replies = try await writer.run(commands)
      // Where another was faster its answer is looked at.
      open = zip(tried, replies).filter { $1 == .integer(0) }.map(\.0)
      kept += tried.count - open.count
    }
    return kept
  }

  /// The milliseconds that an answer is kept for; 0 or less if it is gone.
  private static func lifetime(of answer: StoredAnswer, at now: WallInstant) -> Int64 {
    min(answer.gone - now, longest).wholeMilliseconds
  }

  /// So often an answer is looked at again because another process was faster.
  private static let roundLimit = 8

  /// Puts a line in place of one that is still what was read; what is no string counts as nothing.
  private static let replacing = """
    local known = redis.pcall('GET', KEYS[1])
    if type(known) ~= 'string' then known = '' end
    if known ~= ARGV[1] then return 0 end
    redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
    return 1
    """

  /// Removes the answers to questions.
  public func remove(_ questions: [AddressQuestion]) async throws(DirectDNSError) {
    if !questions.isEmpty { _ = try await writer.run([RedisCommand("DEL", questions.map(keys.answer))]) }
  }

  /// Removes all answers under the prefix.
  ///
  /// - Throws: `storeFailed`, also if the connection breaks in the middle: then some may be left.
  public func removeAll() async throws(DirectDNSError) {
    try await scan { [writer] found, connection throws(DirectDNSError) in
      _ = try await writer.step([RedisCommand("DEL", found)], on: connection)
      return true
    }
  }

  /// Visits all answers under the prefix, in no particular order.
  ///
  /// - Throws: `storeFailed`, also if the connection breaks in the middle: then not all were visited.
  public func visit(_ visit: @Sendable ([StoredAnswer]) async -> Bool) async throws(DirectDNSError) {
    try await scan { [writer] found, connection throws(DirectDNSError) in
      let questions = found.compactMap(self.keys.question)
      guard !questions.isEmpty else { return true }
      // Not by the other connection: it may lead to another server already.
      let replies = try await writer.step([self.reading(questions)], on: connection).replies
      let answers = try Self.answers(replies[0], to: questions)
      return answers.isEmpty ? true : await visit(answers)
    }
  }

  /// Goes through all keys, on one connection.
  private func scan(
    _ body: (_ found: [String], _ connection: Int) async throws(DirectDNSError) -> Bool
  ) async throws(DirectDNSError) {
    var cursor = "0"
    var former: Int?
    repeat {
      let scan = RedisCommand("SCAN", cursor, "MATCH", keys.pattern, "COUNT", "256")
      let (replies, connection) = try await writer.step([scan], on: former)
      guard replies[0].array.count == 2, let next = replies[0].array[0].text, UInt64(next) != nil,
        case .array(let members) = replies[0].array[1]
      else { throw Self.unexpectedReply(to: "SCAN") }
      let found = members.compactMap(\.text)
      cursor = next
      former = connection
      if !found.isEmpty, try await !body(found, connection) { return }
    } while cursor != "0"
  }

  private static func unexpectedReply(to command: String) -> DirectDNSError {
    DirectDNSError(
      .storeFailed, "The Redis store answered \(command) as no Redis does. Check what listens at its address.")
  }

  // MARK: Leases

  /// Takes the lease on a question, unless another holder has it.
  public func takeLease(
    on question: AddressQuestion, holder: String, for duration: Duration
  ) async throws(DirectDNSError) -> Bool {
    let milliseconds = max(1, min(duration, Self.longest).wholeMilliseconds)
    let key = keys.lease(question)
    let (reply, isResent) = try await asker.join(RedisCommand("SET", key, holder, "NX", "PX", "\(milliseconds)"))
    switch reply {
    case .status("OK"): return true
    // Sent again over a new connection, it may find what it did the first time.
    case .null: return isResent ? try await asker.join(RedisCommand("GET", key)).reply == .text(holder) : false
    // Whoever took anything else for "another has it" would wait for nobody.
    default: throw Self.unexpectedReply(to: "SET")
    }
  }

  /// Ends a lease, if that holder still has it.
  public func endLease(on question: AddressQuestion, holder: String) async throws(DirectDNSError) {
    // Looking and deleting in one step: in between, the lease could end and be another's.
    let script = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"
    _ = try await asker.join(RedisCommand("EVAL", script, "1", keys.lease(question), holder))
  }
}
