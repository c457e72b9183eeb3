// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import Dispatch
internal import NIOCore

/// Checks passwords away from the threads that carry connections, and leaves one core to them if there are several.
///
/// The hashes are slow on purpose, and anybody may send a wrong password on each connection. So that this keeps nobody
/// else from logging in, a check is dropped when its client is gone, each source of clients may have only so many checks
/// waiting, and sources take turns. Clients of one source that sent the same name and password share a check.
final class PasswordQueue: Sendable {
  /// A client's place in the queue.
  final class Ticket: Sendable {
    fileprivate let tag: [UInt8]
    fileprivate let source: IPNetwork?

    fileprivate init(_ tag: [UInt8], _ source: IPNetwork?) {
      self.tag = tag
      self.source = source
    }
  }

  fileprivate struct Waiter: Sendable {
    let ticket: Ticket
    let completion: @Sendable (Bool) -> Void
  }

  fileprivate struct Check: Sendable {
    let tag: [UInt8]
    let hash: @Sendable () -> Bool
    var waiters: [Waiter]
  }

  /// The checks of one source that wait, in their order.
  fileprivate struct Line: Sendable {
    let source: IPNetwork?
    var checks: [Check]
  }

  fileprivate struct State: Sendable {
    /// The clients that wait for the checks that are running, by the checks' tags.
    var running: [[UInt8]: [Waiter]] = [:]
    /// The sources in the order of their turns; none is empty.
    var lines: [Line] = []
  }

  /// The most checks of one source that wait: with slow hashes of a quarter of a second, those of four seconds.
  static let limit = 16

  private let width: Int
  private let queue = DispatchQueue(label: "directdns.proxy.passwords", attributes: .concurrent)
  private let state = Locked(State())

  /// Creates one.
  ///
  /// - Parameter width: how many are checked at a time; by default one less than there are cores, and at least 1.
  init(width: Int = max(1, System.coreCount - 1)) { self.width = width }

  /// Adds a check, which is done in its turn.
  ///
  /// - Parameters:
  ///   - tag: the same for the same name and password, and for nothing else.
  ///   - address: the client's; nil for a Unix socket.
  ///   - hash: computes the hash, and says whether the password is right.
  ///   - completion: gets the result, on any thread; after ``cancel(_:)`` only if the check ends at that moment.
  /// - Returns: the client's place; nil if too many checks of its source wait.
  func add(
    _ tag: [UInt8], from address: IPAddress?, hash: @escaping @Sendable () -> Bool,
    completion: @escaping @Sendable (Bool) -> Void
  ) -> Ticket? {
    let ticket = Ticket(tag, address.flatMap(Self.source))
    let check = Check(tag: tag, hash: hash, waiters: [Waiter(ticket: ticket, completion: completion)])
    let (isTaken, begins) = state.withLock { $0.add(check, from: ticket.source, width: width) }
    if begins { queue.async { self.run(check) } }
    return isTaken ? ticket : nil
  }

  /// The client has left: its check is dropped, unless others wait for it or it is running.
  func cancel(_ ticket: Ticket) { state.withLock { $0.remove(ticket) } }

  /// Whose check it is: an address, or with IPv6 the network that one customer gets.
  private static func source(of address: IPAddress) -> IPNetwork? {
    address.family == .ipv6 ? IPNetwork(address: address, prefixLength: 64) : IPNetwork(address)
  }

  private func run(_ first: Check) {
    var next: Check? = first
    while let check = next {
      let isCorrect = check.hash()
      let waiters: [Waiter]
      (waiters, next) = state.withLock { ($0.running.removeValue(forKey: check.tag) ?? [], $0.takeNext()) }
      for waiter in waiters { waiter.completion(isCorrect) }
    }
  }
}

extension PasswordQueue.State {
  /// Adds a check, or its client to the same check.
  fileprivate mutating func add(
    _ check: PasswordQueue.Check, from source: IPNetwork?, width: Int
  ) -> (isTaken: Bool, begins: Bool) {
    if running[check.tag] != nil {
      running[check.tag]? += check.waiters
      return (true, false)
    }
    let line = lines.firstIndex { $0.source == source }
    if let line, let same = lines[line].checks.firstIndex(where: { $0.tag == check.tag }) {
      lines[line].checks[same].waiters += check.waiters
      return (true, false)
    }
    guard running.count >= width else {
      running[check.tag] = check.waiters
      return (true, true)
    }
    guard let line else {
      lines.append(PasswordQueue.Line(source: source, checks: [check]))
      return (true, false)
    }
    guard lines[line].checks.count < PasswordQueue.limit else { return (false, false) }
    lines[line].checks.append(check)
    return (true, false)
  }

  /// Takes the next check, of the source whose turn it is.
  fileprivate mutating func takeNext() -> PasswordQueue.Check? {
    while !lines.isEmpty {
      var line = lines.removeFirst()
      let check = line.checks.removeFirst()
      if !line.checks.isEmpty { lines.append(line) }
      guard running[check.tag] != nil else {
        running[check.tag] = check.waiters
        return check
      }
      // The same one of another source is running.
      running[check.tag]? += check.waiters
    }
    return nil
  }

  fileprivate mutating func remove(_ ticket: PasswordQueue.Ticket) {
    running[ticket.tag]?.removeAll { $0.ticket === ticket }
    guard let line = lines.firstIndex(where: { $0.source == ticket.source }),
      let check = lines[line].checks.firstIndex(where: { $0.tag == ticket.tag })
    else { return }
    lines[line].checks[check].waiters.removeAll { $0.ticket === ticket }
    if lines[line].checks[check].waiters.isEmpty { lines[line].checks.remove(at: check) }
    if lines[line].checks.isEmpty { lines.remove(at: line) }
  }
}
