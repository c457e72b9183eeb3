// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// A thread with a connection of its own, which it makes when it is needed.
actor RedisWorker {
  /// A command that goes out with others, and whoever waits for its reply.
  private struct Joined: Sendable {
    var command: RedisCommand
    var caller: CheckedContinuation<Result<Received, DirectDNSError>, Never>
  }

  /// A reply, and whether its command was sent twice: the first time it may have been carried out, and the reply lost.
  typealias Received = (reply: RedisReply, isResent: Bool)

  private let configuration: RedisStoreConfiguration
  private let executor: ThreadExecutor
  private var connection: RedisConnection?
  /// How many connections there were.
  private var count = 0
  /// Where the server was last: the system's DNS, which its name is looked up by, may be what is dead.
  private let address: Locked<String?>
  /// Whether nobody waits for this thread, which may therefore wait for the system's DNS.
  private let mayWait: Bool
  /// Whether the server may be elsewhere by now.
  private var mayHaveMoved = false
  /// Those that have come since this thread last sent such.
  private let joined = Locked<[Joined]>([])

  init(_ configuration: RedisStoreConfiguration, _ name: String, address: Locked<String?>, mayWait: Bool = false) {
    self.configuration = configuration
    executor = ThreadExecutor(name)
    self.address = address
    self.mayWait = mayWait
  }

  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  /// Sends commands together and returns their replies, none of which is an error.
  func run(_ commands: [RedisCommand]) throws(DirectDNSError) -> [RedisReply] { try step(commands, on: nil).replies }

  /// Sends a command together with all others that come while this thread is busy.
  ///
  /// One after the other, each would wait for the replies to all before it.
  ///
  /// - Parameter command: the command, which no other depends on.
  /// - Returns: its reply, which is no error.
  /// - Throws: what happened to it, whatever became of the others.
  nonisolated func join(_ command: RedisCommand) async throws(DirectDNSError) -> Received {
    let result: Result<Received, DirectDNSError> = await withCheckedContinuation { caller in
      let isFirst = joined.withLock { joined in
        joined.append(Joined(command: command, caller: caller))
        return joined.count == 1
      }
      if isFirst { Task.immediateDetached { await self.sendJoined() } }
    }
    return try result.get()
  }

  private func sendJoined() {
    let all = joined.withLock { joined in
      defer { joined = [] }
      return joined
    }
    let server = configuration.server
    do throws(RedisConnection.Failure) {
      let (received, areResent) = try replies(all.map(\.command), on: nil)
      for (one, reply) in zip(all, received) {
        if case .error(let word) = reply {
          let failure = RedisConnection.Failure.refused(word)
          one.caller.resume(returning: .failure(failure.directDNSError(server)))
        } else {
          one.caller.resume(returning: .success((reply: reply, isResent: areResent)))
        }
      }
    } catch {
      for one in all { one.caller.resume(returning: .failure(error.directDNSError(server))) }
    }
  }

  /// Sends commands that go on where others ended, such as a `SCAN` with a cursor: on the same connection.
  ///
  /// A cursor means nothing to a server that was restarted, or to another one that the address leads to by now; an empty
  /// one would say that it has shown everything. A connection leads to one process of a server as long as it is open.
  ///
  /// - Parameters:
  ///   - commands: the commands.
  ///   - former: the connection of the commands before; nil for the first.
  /// - Returns: the replies, and the connection.
  /// - Throws: also when that connection is not there any more.
  func step(
    _ commands: [RedisCommand], on former: Int?
  ) throws(DirectDNSError) -> (replies: [RedisReply], connection: Int) {
    do throws(RedisConnection.Failure) {
      let received = try replies(commands, on: former).replies
      for case .error(let word) in received { throw .refused(word) }
      return (received, count)
    } catch {
      throw error.directDNSError(configuration.server)
    }
  }

  private func replies(
    _ commands: [RedisCommand], on former: Int?
  ) throws(RedisConnection.Failure) -> (replies: [RedisReply], areResent: Bool) {
    let wasConnected = connection != nil
    guard former == nil || wasConnected && former == count else { throw .interrupted }
    do throws(RedisConnection.Failure) {
      let replies = try send(commands)
      // A reply to what goes on is returned, since another server must not be told the same.
      guard wasConnected, connection == nil, former == nil else { return (replies, false) }
    } catch {
      // A server that was restarted closes connections: that shows when one is used next.
      guard wasConnected, case .connection = error else { throw error }
      guard former == nil else { throw .interrupted }
    }
    return (try send(commands), true)
  }

  private func send(_ commands: [RedisCommand]) throws(RedisConnection.Failure) -> [RedisReply] {
    // Taken out for the time of use: one that fails is gone.
    let current: RedisConnection
    if let kept = connection.take() {
      // It would be taken for the first reply.
      guard kept.isQuiet else { throw .connection("it has ended, or said what nobody asked for") }
      current = kept
    } else {
      current = try connect()
      count += 1
      // Another program may have taken the address where the server was last: what it replies shows that.
      mayHaveMoved = true
    }
    let replies = try current.run(commands)
    // A primary that has become a replica keeps its connections, and another one is the primary; and a Redis that asks
    // for a password where none is configured may be somebody else's.
    mayHaveMoved = replies.contains(.error("READONLY")) || replies.contains(.error("NOAUTH"))
    if !mayHaveMoved { connection = consume current }
    return replies
  }

  private func connect() throws(RedisConnection.Failure) -> RedisConnection {
    let known = address.withLock(\.self)
    let looksUp = mayWait && mayHaveMoved
    if let known, !looksUp {
      do throws(RedisConnection.Failure) { return try RedisConnection.open(configuration, at: known) } catch {
        // It may have moved; where its name is not known just now, it is looked for there again.
      }
    }
    do throws(RedisConnection.Failure) {
      let opened = try RedisConnection.open(configuration)
      address.withLock { $0 = opened.address }
      return opened
    } catch {
      guard looksUp, let known else { throw error }
      return try RedisConnection.open(configuration, at: known)
    }
  }
}

extension RedisConnection.Failure {
  /// What to do about a server's certificate.
  private static func advice(_ fault: TLSFault?) -> String {
    switch fault {
    case .expired?: "If this machine's clock is right, it has to be renewed, or its authority's."
    case .notYetValid?: "Check this machine's clock."
    case .otherName?: "Name the host as the certificate has it."
    case .untrusted?, .notSpoken?, nil: "Name its authority by ?ca=FILE, and the host as the certificate has it."
    }
  }

  /// What comes of a server that speaks TLS alone, where we do not.
  ///
  /// In the system's words and in hiredis's; by TLS the words are OpenSSL's.
  private static let plainRefusals: Set<String> = ["Connection reset by peer", "Server closed the connection"]

  /// What happened, in words that say what to do.
  func directDNSError(_ server: RedisStoreConfiguration.Server) -> DirectDNSError {
    let place =
      switch server {
      case .tcp(let host, let port): "\(host):\(port)"
      case .socket(let path): DirectDNSError.quoted(path)
      }
    let hasPort = if case .tcp = server { true } else { false }
    let message =
      switch self {
      // OpenSSL's words for what the server says in place of an answer, such as "tlsv13 alert certificate required".
      case .connection(let reason) where reason.hasPrefix("TLS: ") && reason.contains(" alert "):
        "The Redis store at \(place) cannot be reached (\(reason)). If it asks who its clients are, name a certificate that it takes, and its key, by ?cert=FILE&key=FILE."
      case .connection(let reason) where reason.hasPrefix("TLS: ") && TLSFault(reason) == .notSpoken:
        "The Redis store at \(place) cannot be reached (\(reason)). It speaks no TLS there: write redis:// for rediss://, or name the port that has TLS."
      case .connection(let reason) where hasPort && Self.plainRefusals.contains(reason):
        "The Redis store at \(place) cannot be reached (\(reason)). Check that it runs, and its address. If it speaks TLS alone there, write rediss:// for redis://."
      case .connection(let reason):
        "The Redis store at \(place) cannot be reached (\(reason)). Check that it runs, and its address."
      case .certificate(let reason):
        "The Redis store at \(place) shows a certificate that is not taken (\(reason)). \(Self.advice(TLSFault(reason)))"
      case .setting(let what): "The Redis store at \(place) cannot be used: \(what)."
      case .timedOut:
        "The Redis store at \(place) did not answer in time. Check how busy it is, and the way to it (redis-cli --latency)."
      case .noHandshake:
        "The Redis store at \(place) did not begin TLS in time. If it speaks none there, write redis:// for rediss://, or name the port that has TLS."
      case .interrupted:
        "The connection to the Redis store at \(place) broke in the middle, so not all of it was gone through. Do it again: it may be another server by now, or one that was restarted."
      case .credentials, .refused("NOAUTH"), .refused("WRONGPASS"):
        "The Redis store at \(place) refuses to let us in. Check user and password."
      case .database(let number):
        "The Redis store at \(place) has no database \(number). Check the number at the end of its URL."
      case .refused("NOPERM"):
        "The Redis store at \(place) does not let this user do what a store needs. Check the user's ACL rules: they have to have +ping +select +get +mget +set +del +eval +scan and the store's keys, which are ~directdns:* unless its prefix is another."
      case .refused("MAXCLIENTS"): "The Redis store at \(place) has all the clients that it takes. Raise maxclients."
      case .refused("DENIED"):
        "The Redis store at \(place) takes clients of its own machine alone (protected mode). Set a password there."
      case .refused("MISCONF"):
        "The Redis store at \(place) cannot save its data, and takes no more of it. Check its log and its disk."
      case .refused("OOM"): "The Redis store at \(place) is full. Raise maxmemory, or set an eviction policy."
      case .refused("MOVED"), .refused("ASK"), .refused("CROSSSLOT"), .refused("CLUSTERDOWN"):
        "The Redis store at \(place) is a member of a cluster, which keeps each name elsewhere; this store talks to one server. Name one that is in no cluster."
      case .refused("READONLY"): "The Redis store at \(place) is a replica, which cannot be written. Name the primary."
      case .refused("UNKNOWN"):
        "The Redis store at \(place) does not know a command that a store needs, as a Sentinel does not, or a server that renames some. Name one that has GET, MGET, SET, DEL, EVAL and SCAN, and SELECT for a database other than 0."
      case .refused("LOADING"):
        "The Redis store at \(place) is loading its data after a start. It answers once that is done."
      case .refused("MASTERDOWN"):
        "The Redis store at \(place) is a replica that has lost its primary, and shows nothing (replica-serve-stale-data). Name the primary."
      case .refused("NOREPLICAS"):
        "The Redis store at \(place) has too few replicas to take data (min-replicas-to-write). Check them."
      case .refused("BUSY"):
        "The Redis store at \(place) is busy with another program's script. End that there (SCRIPT KILL)."
      case .refused(""):
        "The Redis store at \(place) refused a command as no Redis does. Check what listens at its address, and its log."
      case .refused(let word): "The Redis store at \(place) refused a command (\(word))."
      }
    return DirectDNSError(.storeFailed, message)
  }
}
