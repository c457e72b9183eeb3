// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSHiredis
internal import DirectDNS

/// One connection to the server, for one thread at a time.
@safe struct RedisConnection: ~Copyable {
  private let context: UnsafeMutablePointer<redisContext>
  private var tls: RedisTLS?
  /// The longest that one reply may take: one that drips is not silent, and would never end.
  private let replyTime: Duration

  /// Why a command could not be carried out.
  enum Failure: Error, Hashable, Sendable {
    /// The connection is not there, in words.
    case connection(String)
    /// The server's certificate is not taken, in OpenSSL's words.
    case certificate(String)
    /// A file that TLS needs is not what it should be.
    case setting(String)
    /// The server took too long.
    case timedOut
    /// The server took too long to begin TLS.
    case noHandshake
    /// The connection of what was begun is not there any more.
    case interrupted
    /// The server refused, with the first word of its error.
    case refused(String)
    /// The server does not take the user and the password.
    case credentials
    /// The server has no database of that number, or does not let this user have it.
    case database(Int)
  }

  /// Connects, and logs in.
  ///
  /// - Parameters:
  ///   - configuration: which server.
  ///   - address: where the server was last, so that no name is looked up.
  /// - Returns: the connection.
  /// - Throws: why there is none.
  static func open(
    _ configuration: RedisStoreConfiguration, at address: String? = nil
  ) throws(Failure) -> RedisConnection {
    let limit = directdns_redis_time(configuration.connectTimeout.milliseconds)
    let opened: UnsafeMutablePointer<redisContext>? =
      switch configuration.server {
      case .tcp(let host, let port):
        unsafe redisConnectWithTimeout(address ?? host.unbracketed, Int32(port), limit)
      case .socket(let path): unsafe redisConnectUnixWithTimeout(try Self.whole(path), limit)
      }
    guard let opened = unsafe opened else { throw .connection("no memory") }
    var connection = unsafe RedisConnection(opened, replyTime: configuration.timeout * 10)
    guard unsafe opened.pointee.err == 0 else { throw connection.failure() }
    unsafe directdns_redis_prepare(opened)
    if let tls = configuration.tls, case .tcp(let host, _) = configuration.server {
      connection.tls = try RedisTLS.open(
        tls, host: host, socket: unsafe opened.pointee.fd, limit: configuration.connectTimeout)
    }
    // Without it a server that is silent would be waited for without end.
    guard unsafe redisSetTimeout(opened, directdns_redis_time(configuration.timeout.milliseconds)) == REDIS_OK else {
      throw connection.failure()
    }
    var greeting: [RedisCommand] = []
    if let password = configuration.password {
      greeting.append(RedisCommand("AUTH", [configuration.user, password.text].compactMap(\.self)))
    }
    if configuration.database != 0 { greeting.append(RedisCommand("SELECT", "\(configuration.database)")) }
    if !greeting.isEmpty {
      // Both refusals begin with ERR where the server is an old one: what was asked tells them apart.
      for (command, reply) in zip(greeting, try connection.run(greeting)) {
        guard case .error(let word) = reply else { continue }
        switch (command.words[0], word) {
        case (_, "NOAUTH"), ("AUTH", "ERR"), ("AUTH", "WRONGPASS"): throw .credentials
        case ("SELECT", "ERR"): throw .database(configuration.database)
        default: throw .refused(word)
        }
      }
    }
    return connection
  }

  /// A socket's path, which hiredis would cut where the system's structure has no more room, or at a NUL: another socket
  /// may lie there.
  private static func whole(_ path: String) throws(Failure) -> String {
    let room = MemoryLayout.size(ofValue: sockaddr_un().sun_path)
    guard path.utf8.count < room, !path.utf8.contains(0) else {
      throw .setting("a socket's path has at most \(room - 1) bytes, and no NUL: \(DirectDNSError.quoted(path))")
    }
    return path
  }

  private init(_ context: UnsafeMutablePointer<redisContext>, replyTime: Duration) {
    unsafe self.context = context
    self.replyTime = replyTime
    tls = nil
  }

  deinit { unsafe redisFree(context) }

  /// The server's address; nil on a Unix socket.
  var address: String? {
    let words = unsafe String(unsafeUninitializedCapacity: 64) { text in
      unsafe text.withMemoryRebound(to: CChar.self) { text in
        guard let start = text.baseAddress else { return 0 }
        unsafe directdns_redis_peer(context, start, socklen_t(text.count))
        return unsafe strlen(start)
      }
    }
    return words.isEmpty ? nil : words
  }

  /// Whether nothing has come that nobody has asked for, be it the connection's end.
  ///
  /// Under TLS that cannot be told: a server sends tickets of its own accord (RFC 8446 §4.6.1).
  var isQuiet: Bool {
    if tls != nil { return true }
    return unsafe directdns_redis_is_quiet(context) != 0
  }

  /// Sends commands together and returns their replies.
  ///
  /// A connection that failed once is of no more use.
  borrowing func run(_ commands: [RedisCommand]) throws(Failure) -> [RedisReply] {
    if tls != nil { return try runEncrypted(commands) }
    for command in commands {
      let bytes = command.bytes
      let status = unsafe bytes.withUnsafeBytes { buffer in
        unsafe redisAppendFormattedCommand(
          context, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), buffer.count)
      }
      guard status == REDIS_OK else { throw failure() }
    }
    guard unsafe directdns_redis_send(context) == REDIS_OK else { throw failure() }
    return try replies(commands.count) { () throws(Failure) in
      guard unsafe redisBufferRead(context) == REDIS_OK else { throw failure() }
    }
  }

  /// The same under TLS: hiredis reads the replies out of what comes.
  private borrowing func runEncrypted(_ commands: [RedisCommand]) throws(Failure) -> [RedisReply] {
    try tls?.send(Array(commands.map(\.bytes).joined()))
    let reader = unsafe context.pointee.reader
    return try replies(commands.count) { () throws(Failure) in
      guard let bytes = try tls?.receive(), unsafe redisReaderFeed(reader, bytes, bytes.count) == REDIS_OK else {
        throw .connection("no memory")
      }
    }
  }

  /// So many replies out of what comes.
  ///
  /// - Parameters:
  ///   - count: how many.
  ///   - read: waits for more bytes, and gives them to hiredis.
  /// - Returns: the replies.
  /// - Throws: why there are not so many.
  private borrowing func replies(_ count: Int, _ read: () throws(Failure) -> Void) throws(Failure) -> [RedisReply] {
    var replies: [RedisReply] = []
    var end = ContinuousClock.now + replyTime
    while replies.count < count {
      var reply: UnsafeMutableRawPointer?
      guard unsafe redisReaderGetReply(context.pointee.reader, &reply) == REDIS_OK else {
        guard unsafe context.pointee.reader.pointee.err == REDIS_ERR_OOM else { throw Self.foreign }
        throw .connection("no memory")
      }
      if let reply = unsafe reply {
        let known = unsafe RedisReply(reply.assumingMemoryBound(to: redisReply.self))
        unsafe freeReplyObject(reply)
        guard let known else { throw Self.foreign }
        replies.append(known)
        end = ContinuousClock.now + replyTime
      } else {
        guard ContinuousClock.now < end else { throw .timedOut }
        do throws(Failure) { try read() } catch {
          // A server that takes no further client says so once, whatever was asked, and closes the connection.
          guard replies.count == 1, case .error(let word) = replies[0] else { throw error }
          throw .refused(word)
        }
      }
    }
    // What nobody asked for would be taken for the reply to the next command, and so for another name's answer.
    guard unsafe context.pointee.reader.pointee.pos == context.pointee.reader.pointee.len else { throw Self.foreign }
    return replies
  }

  private static let foreign = Failure.connection("what it says is not Redis's protocol")

  private borrowing func failure() -> Failure {
    if unsafe directdns_redis_timed_out(context) != 0 { return .timedOut }
    return unsafe .connection(String(cString: directdns_redis_error(context)))
  }
}

extension RedisReply {
  /// Nil for what RESP 2 has not: nobody has asked for RESP 3 (HELLO), whose types hiredis reads since 1.0.
  init?(_ reply: UnsafeMutablePointer<redisReply>) {
    func words() -> String {
      let bytes = unsafe UnsafeRawBufferPointer(start: reply.pointee.str, count: reply.pointee.len)
      return unsafe String(decoding: bytes, as: UTF8.self)
    }
    switch unsafe reply.pointee.type {
    case REDIS_REPLY_STRING: self = .text(words())
    case REDIS_REPLY_STATUS: self = .status(words())
    case REDIS_REPLY_INTEGER: self = unsafe .integer(reply.pointee.integer)
    case REDIS_REPLY_ARRAY:
      let elements = unsafe UnsafeBufferPointer(start: reply.pointee.element, count: reply.pointee.elements)
      let known = unsafe elements.compactMap { element -> RedisReply? in
        guard let element = unsafe element else { return RedisReply.null }
        return unsafe RedisReply(element)
      }
      guard unsafe known.count == reply.pointee.elements else { return nil }
      self = .array(known)
    case REDIS_REPLY_ERROR: self = .error(Self.word(of: words()))
    case REDIS_REPLY_NIL: self = .null
    default: return nil
    }
  }
}

extension RedisReply {
  /// What an error is called: its first word, or another where that is the ERR which many have.
  static func word(of error: String) -> String {
    if error.hasPrefix("ERR max number of clients reached") { return "MAXCLIENTS" }
    if error.hasPrefix("ERR unknown command") { return "UNKNOWN" }
    // What a command alone says by NOPERM (script.c, scripting.c before Redis 7).
    if error.hasPrefix("ERR "), error.contains("The user executing the script can't ") { return "NOPERM" }
    // Before Redis 7 a script fails with ERR, and the word of the command in it stands behind a dash: "ERR Error running
    // script (call to f_…): @user_script:4: @user_script: 4: -READONLY You can't write …" (luaPushError in scripting.c).
    if error.hasPrefix("ERR Error running script"), let dash = error.firstRange(of: ": -") {
      return word(of: String(error[dash.upperBound...]))
    }
    return String(error.prefix { $0.isASCII && ($0.isUppercase || $0.isNumber || $0 == "_") }.prefix(32))
  }
}

extension WebURL.Host {
  /// As the system's functions take it.
  fileprivate var unbracketed: String {
    switch self {
    case .address(let address): address.description
    case .name: description
    }
  }
}

extension Duration {
  /// Whole milliseconds, at least one: none would mean for ever.
  fileprivate var milliseconds: Int64 { max(1, wholeMilliseconds) }
}

extension RedisAnswerStore {
  /// hiredis's version, as its header has it: the library does not say.
  package static var libraryVersion: String { "\(HIREDIS_MAJOR).\(HIREDIS_MINOR).\(HIREDIS_PATCH)" }
}
