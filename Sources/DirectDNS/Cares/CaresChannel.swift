// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCares

/// A channel of c-ares: the name servers of one configuration, the sockets to them, and the lookups under way.
///
/// It belongs to the loop's thread, and has to be closed by ``close()``.
@safe final class CaresChannel {
  /// What the lookups of one channel have in common.
  struct Kind: Hashable {
    /// `ADDRESS:PORT,…` instead of the servers of resolv.conf.
    var servers: String?
    /// Milliseconds that a server has for its first answer, before the next one is asked.
    var timeout: Int32
    /// The system's configuration when the channel read it.
    var system: CaresSystem
  }

  /// A lookup as c-ares knows it.
  private final class Context {
    let query: CaresQuery
    var walk: SearchWalk
    // The channel ends all lookups before it goes: c-ares calls back for each when it is destroyed.
    unowned let channel: CaresChannel

    init(_ query: CaresQuery, _ walk: SearchWalk, _ channel: CaresChannel) {
      self.query = query
      self.walk = walk
      self.channel = channel
    }
  }

  /// The open sockets that c-ares waits for.
  private(set) var sockets: Set<ares_socket_t> = []
  private let poller: Poller
  /// How many more questions are asked on the channel before another one takes its place.
  ///
  /// They share a port, which somebody who forges answers would have time to find if the channel were used for long
  /// (RFC 5452 §9.2).
  private(set) var room = 64
  private var handle: ares_channel?
  private let resolvConf: String
  /// Read with the first single label.
  private lazy var searchList = SearchList(ofFile: resolvConf)
  /// Whether the hosts file is read only after the DNS has been asked, by nsswitch.conf.
  private var asksDNSFirst: Int32 = 0
  /// Kept until c-ares has called back, even if nobody waits any more.
  private var contexts: [ObjectIdentifier: Context] = [:]

  private static let library = ares_library_init(Int32(ARES_LIB_INIT_ALL)) == directdns_ares_success

  /// Reads the system's configuration.
  init(_ kind: Kind, poller: Poller) throws(CaresError) {
    self.poller = poller
    resolvConf = kind.system.resolvConf ?? CaresSystem.usualResolvConf
    guard Self.library else { throw .failed("c-ares cannot be initialised") }
    var options = unsafe ares_options()
    // The variable HOSTALIASES must not decide where requests go (hostname(7)).
    unsafe options.flags = directdns_ares_noalias
    // The defaults of c-ares, five seconds and four tries, add up to 75 s.
    unsafe options.timeout = kind.timeout
    // With a short timeout, two would be over before the lookup's time.
    unsafe options.tries = kind.timeout < Kind.longestTimeout ? 3 : 2
    unsafe options.sock_state_cb = { context, socket, reads, writes in
      guard let context = unsafe context else { return }
      let channel = unsafe Unmanaged<CaresChannel>.fromOpaque(context).takeUnretainedValue()
      channel.watch(socket, reads: reads != 0, writes: writes != 0)
    }
    unsafe options.sock_state_cb_data = Unmanaged.passUnretained(self).toOpaque()
    let status = unsafe directdns_ares_init(&handle, &options, kind.system.resolvConf, &asksDNSFirst)
    guard status == directdns_ares_success, let handle = unsafe handle else { throw CaresError(status) }
    if asksDNSFirst < 0 { asksDNSFirst = LookupOrder(ofFile: CaresSystem.nsswitch).asksDNSFirst ? 1 : 0 }
    if let servers = kind.servers, unsafe ares_set_servers_ports_csv(handle, servers) != directdns_ares_success {
      unsafe ares_destroy(handle)
      throw .failed("\(servers) is not a list of name servers: write ADDRESS:PORT, [ADDRESS]:PORT for IPv6")
    }
  }

  private func watch(_ socket: ares_socket_t, reads: Bool, writes: Bool) {
    // Neither reading nor writing: the socket is about to be closed.
    guard reads || writes else {
      sockets.remove(socket)
      return poller.closed(socket)
    }
    if sockets.insert(socket).inserted { poller.opened(socket) }
    var interest: Poller.Interest = []
    if reads { interest.insert(.reading) }
    if writes { interest.insert(.writing) }
    poller.watch(socket, for: interest, owner: 0)
  }

  /// Closes the channel; c-ares calls back for each lookup under way.
  func close() {
    guard let handle = unsafe handle else { return }
    unsafe self.handle = nil
    unsafe ares_destroy(handle)
  }

  /// How many lookups are under way, including those that nobody waits for.
  var count: Int { contexts.count }
  var isIdle: Bool { contexts.isEmpty }

  // MARK: Lookups

  /// Begins a lookup, which reads the hosts file at once.
  ///
  /// What the file, or a search domain, has of one family is the whole of the name: the other family's addresses from
  /// elsewhere would be those of another host (getaddrinfo(3) of glibc does the same).
  func start(_ query: CaresQuery) {
    guard let handle = unsafe handle else { return query.finish(.failure(.cancelled)) }
    let (host, family) = (query.lookup.host, query.lookup.family)
    var names = [host]
    switch unsafe asksDNSFirst == 0 ? directdns_ares_hosts(handle, host.text, family.socketFamily) : 0 {
    case 0: if host.isSingleLabel { names = searchList.names(for: host) }
    case 1: break
    default: return query.finish(.failure(.noAddress))
    }
    let context = Context(query, SearchWalk(names.first ?? host, names.dropFirst(), family), self)
    contexts[ObjectIdentifier(context)] = context
    ask(context)
  }

  /// Asks what a lookup's walk has come to.
  private func ask(_ context: Context) {
    guard let handle = unsafe handle else { return end(context, .failure(.cancelled)) }
    room -= 1
    var hints = ares_addrinfo_hints()
    hints.ai_family = context.walk.family.socketFamily
    hints.ai_flags = directdns_ares_canonname | directdns_ares_nosort
    unsafe ares_getaddrinfo(
      handle, context.walk.name.text, nil, &hints,
      { context, status, _, found in
        defer { unsafe ares_freeaddrinfo(found) }
        guard let context = unsafe context else { return }
        let asked = unsafe Unmanaged<Context>.fromOpaque(context).takeUnretainedValue()
        var outcome = CaresLookup.Outcome.failure(CaresError(status))
        if status == directdns_ares_success, let found = unsafe found {
          let own = unsafe CaresLookup.Found(found.pointee, asked.walk.family)
          outcome = own.addresses.isEmpty ? .failure(.noAddress) : .success(own)
        }
        asked.channel.goOn(asked, after: outcome)
      }, Unmanaged.passUnretained(context).toOpaque())
  }

  private func goOn(_ context: Context, after outcome: CaresLookup.Outcome) {
    // Nobody waits any more: the outcome does not matter.
    if context.query.isOver { return end(context, outcome) }
    if let last = context.walk.next(after: outcome) { end(context, last) } else { ask(context) }
  }

  private func end(_ context: Context, _ outcome: CaresLookup.Outcome) {
    context.query.finish(outcome)
    contexts[ObjectIdentifier(context)] = nil
  }

  /// Has c-ares read from and write to a socket that is ready for it.
  func act(on socket: ares_socket_t, _ ready: Poller.Interest) {
    guard let handle = unsafe handle else { return }
    unsafe ares_process_fd(
      handle, ready.contains(.reading) ? socket : ARES_SOCKET_BAD, ready.contains(.writing) ? socket : ARES_SOCKET_BAD)
  }

  /// Does what is due, and cancels the lookups if nobody waits for any of them.
  ///
  /// - Returns: the instant before which nothing will be due.
  func endTurn(at now: ResolverInstant) -> ResolverInstant {
    guard let handle = unsafe handle, !isIdle else { return .init(nanoseconds: .max) }
    unsafe ares_process_fd(handle, ARES_SOCKET_BAD, ARES_SOCKET_BAD)
    var due = ResolverInstant(nanoseconds: .max)
    var isWanted = false
    for context in contexts.values {
      if context.query.deadline <= now { context.query.finish(.failure(.timedOut)) }
      guard !context.query.isOver else { continue }
      isWanted = true
      due = min(due, context.query.deadline)
    }
    guard isWanted else {
      // c-ares can cancel all lookups of a channel, but not a single one.
      unsafe ares_cancel(handle)
      return .init(nanoseconds: .max)
    }
    var left = timeval()
    guard unsafe ares_timeout(handle, nil, &left) != nil else { return due }
    return min(due, now + .seconds(Int64(left.tv_sec)) + .microseconds(Int64(left.tv_usec)))
  }
}

extension CaresChannel.Kind {
  fileprivate static let longestTimeout: Int32 = 700

  /// The time that a server has in a lookup of so many milliseconds: so much that the second server is asked in time.
  ///
  /// There are a few values only, since each makes a channel of its own.
  static func timeout(within milliseconds: Int64) -> Int32 {
    [longestTimeout, 350, 175].first { $0 <= milliseconds / 2 } ?? 87
  }
}

/// The state of the files that c-ares reads when a channel is made.
///
/// Two values are equal if no file has changed in between. The hosts file is not included, since each lookup reads it.
struct CaresSystem: Hashable {
  /// Where resolv.conf is, unless another file is named.
  fileprivate static let usualResolvConf = "/etc/resolv.conf"
  fileprivate static let nsswitch = "/etc/nsswitch.conf"

  /// A file to read instead of /etc/resolv.conf.
  let resolvConf: String?
  private let stamps: [FileStamp?]

  /// Looks at the files.
  init(resolvConf: String? = nil) {
    self.resolvConf = resolvConf
    stamps = [resolvConf ?? Self.usualResolvConf, Self.nsswitch, "/etc/host.conf", "/etc/svc.conf"].map {
      FileStamp(of: $0)
    }
  }
}

extension IPAddress.Family {
  fileprivate var socketFamily: Int32 { self == .ipv4 ? AF_INET : AF_INET6 }
}
