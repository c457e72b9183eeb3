internal import CDirectDNSCares
internal import Dispatch

/// One lookup by the system's DNS: hosts file and resolv.conf, by c-ares.
///
/// It blocks, so it runs on a thread of ours: channel, sockets and answer live and die in one function, and nothing
/// of one lookup can touch another.
struct CaresLookup: Sendable {
  /// What a lookup found.
  struct Found: Sendable, Hashable {
    var addresses: [IPAddress] = []
    /// The smallest TTL over the chain and the addresses, in seconds.
    var ttl: UInt32 = .max
    var canonicalName: String?
  }

  /// c-ares's version.
  static var version: String { unsafe ares_version(nil).map { unsafe String(cString: $0) } ?? "" }

  var host: HostName
  /// Nothing asks for both families.
  var family: IPAddress.Family?
  /// `ADDRESS:PORT,…` instead of the system's own servers.
  var servers: String?
  /// Milliseconds for the whole lookup.
  var timeout: Int64

  /// Asks, and waits for the answer.
  func run() -> Result<Found, CaresError> {
    guard Self.library else { return .failure(.failed("c-ares cannot be initialised")) }
    var options = unsafe ares_options()
    // Whoever sets HOSTALIASES for a process must not choose where its requests go (hostname(7)).
    unsafe options.flags = directdns_ares_noalias | (host.isSingleLabel ? 0 : directdns_ares_nosearch)
    // c-ares' own five seconds and four tries add up to 75 s.
    unsafe options.timeout = 700
    unsafe options.tries = 2
    var channel: ares_channel?
    let status = unsafe ares_init_options(&channel, &options, directdns_ares_options)
    guard status == directdns_ares_success, let channel = unsafe channel else { return .failure(CaresError(status)) }
    if let servers, unsafe ares_set_servers_ports_csv(channel, servers) != directdns_ares_success {
      unsafe ares_destroy(channel)
      return .failure(.failed("\(servers) is no list of name servers; write ADDRESS:PORT"))
    }
    let outcome = Outcome()
    // `ares_destroy` itself calls back: the outcome must outlive it.
    return withExtendedLifetime(outcome) {
      unsafe ask(channel, outcome)
      unsafe wait(channel, outcome)
      let result = outcome.result ?? .failure(.timedOut)
      unsafe ares_destroy(channel)
      return result
    }
  }

  private static let library = ares_library_init(Int32(ARES_LIB_INIT_ALL)) == directdns_ares_success

  private final class Outcome { var result: Result<Found, CaresError>? }

  private func ask(_ channel: ares_channel, _ outcome: Outcome) {
    var hints = ares_addrinfo_hints()
    hints.ai_family =
      switch family {
      case .ipv4: AF_INET
      case .ipv6: AF_INET6
      case nil: AF_UNSPEC
      }
    hints.ai_flags = directdns_ares_canonname | directdns_ares_nosort
    unsafe ares_getaddrinfo(
      channel, host.text, nil, &hints,
      { context, status, _, found in
        guard let context = unsafe context else { return }
        let outcome = unsafe Unmanaged<Outcome>.fromOpaque(context).takeUnretainedValue()
        defer { unsafe ares_freeaddrinfo(found) }
        guard outcome.result == nil else { return }
        if status == directdns_ares_success, let found = unsafe found {
          outcome.result = unsafe .success(Found(found.pointee))
        } else {
          outcome.result = .failure(CaresError(status))
        }
      }, Unmanaged.passUnretained(outcome).toOpaque())
  }

  private func wait(_ channel: ares_channel, _ outcome: Outcome) {
    let deadline = DispatchTime.now().uptimeNanoseconds + UInt64(max(0, timeout)) * 1_000_000
    while outcome.result == nil {
      let now = DispatchTime.now().uptimeNanoseconds
      guard now < deadline else { return }
      var sockets = [ares_socket_t](repeating: 0, count: 16)
      let bits = unsafe ares_getsock(channel, &sockets, 16)
      var polled: [pollfd] = []
      for (index, socket) in sockets.enumerated() {
        var events: Int16 = 0
        if bits & (1 << Int32(index)) != 0 { events |= Int16(POLLIN) }
        if bits & (1 << Int32(index + 16)) != 0 { events |= Int16(POLLOUT) }
        if events != 0 { polled.append(pollfd(fd: socket, events: events, revents: 0)) }
      }
      guard !polled.isEmpty else { return }
      var left = timeval()
      var longest = timeval(tv_sec: 0, tv_usec: 500_000)
      unsafe ares_timeout(channel, &longest, &left)
      let patience = min(Int64(left.tv_sec) * 1000 + Int64(left.tv_usec) / 1000, Int64((deadline - now) / 1_000_000))
      let ready = unsafe poll(&polled, nfds_t(polled.count), Int32(max(1, patience)))
      if ready <= 0 {
        unsafe ares_process_fd(channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD)
      } else {
        for entry in polled where entry.revents != 0 {
          let reads = entry.revents & Int16(POLLIN | POLLERR | POLLHUP) != 0
          let writes = entry.revents & Int16(POLLOUT) != 0
          unsafe ares_process_fd(channel, reads ? entry.fd : ARES_SOCKET_BAD, writes ? entry.fd : ARES_SOCKET_BAD)
        }
      }
    }
  }
}

extension CaresLookup.Found {
  fileprivate init(_ found: ares_addrinfo) {
    var node = unsafe found.nodes
    while let current = unsafe node {
      if let address = unsafe IPAddress(current.pointee.ai_addr), !addresses.contains(address),
        addresses.count < Answer.addressLimit
      {
        addresses.append(address)
      }
      unsafe ttl = min(ttl, UInt32(clamping: current.pointee.ai_ttl))
      unsafe node = current.pointee.ai_next
    }
    var alias = unsafe found.cnames
    while let current = unsafe alias {
      unsafe ttl = min(ttl, UInt32(clamping: current.pointee.ttl))
      unsafe canonicalName = current.pointee.name.map { unsafe String(cString: $0) }
      unsafe alias = current.pointee.next
    }
    if ttl == .max { ttl = 0 }
  }
}

extension IPAddress {
  fileprivate init?(_ socket: UnsafePointer<sockaddr>?) {
    guard let socket = unsafe socket else { return nil }
    switch unsafe Int32(socket.pointee.sa_family) {
    case AF_INET:
      self = unsafe socket.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
        unsafe .ipv4(UInt32(bigEndian: $0.pointee.sin_addr.s_addr))
      }
    case AF_INET6:
      let bytes = unsafe socket.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
        unsafe withUnsafeBytes(of: $0.pointee.sin6_addr) { unsafe Array($0) }
      }
      self.init(bytes: bytes)
    default: return nil
    }
  }
}
