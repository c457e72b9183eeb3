// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import HTTPTypes
internal import Synchronization

/// What is known of a job's transfer, as it goes on.
final class TransferReport: Sendable {
  struct Facts: Sendable {
    /// When the try began; nil before the first one.
    var began: ResolverInstant?
    /// The last response; nil before it has come.
    var response: DirectResponse?
    /// The heads of all responses, including redirects; also if the last response never comes.
    var heads: [HeadText] = []
    /// How many redirects were followed, and where the last one leads.
    var redirects = 0
    var location: WebURL?
    /// Whether the last head was a redirect that was followed.
    var isFollowed = false
    /// How many connections were opened for requests.
    var connects = 0
    /// How many are established that the request has not gone out on: their TLS handshakes, or tunnels, are under way.
    var waiting = 0
    /// Where the last connection leads, also if no response has come over it: to the proxy where there is one.
    var remote: (address: IPAddress, port: UInt16)?
    /// The method of the last request, which redirects may change.
    var method: HTTPRequest.Method
    /// When its phases were over.
    var times = TransferTimes()
    /// Bytes of the heads that came.
    var headSize: Int64 = 0
    /// Bytes of the body that came and were sent.
    var received: Int64 = 0
    var sent: Int64 = 0
    /// The whole time of the try, up to the end of the body.
    var elapsed: Duration = .zero
    var status = ExitStatus.answered
    var message: String?

    /// The last head that has come.
    var head: HTTPResponse? { heads.last?.head }

    /// The last head's type; of several fields the last one counts, as in curl.
    var contentType: HTTPField? { head?.headerFields.last { $0.name == .contentType } }
  }

  let job: FetchJob
  private let facts: Mutex<Facts>

  init(_ job: FetchJob) {
    self.job = job
    facts = Mutex(Facts(method: job.request.method))
  }

  var now: Facts { facts.withLock { $0 } }

  /// A try begins: what came in an earlier one does not count, nor the pause behind that.
  func begin(at now: ResolverInstant) {
    facts.withLock { $0 = Facts(began: now, method: job.request.method) }
  }

  func note(_ event: RequestEvent, at now: ResolverInstant) {
    facts.withLock { facts in
      facts.times.note(event, at: now)
      switch event {
      case .requesting(let request): facts.method = request.method
      case .connected(let address, let isReused):
        if let address { facts.remote = (address, (facts.location ?? job.url).effectivePort) }
        facts.waiting = 0
        if !isReused { facts.connects += 1 }
      case .responded(let head, let connection):
        if let address = connection.remoteAddress { facts.remote = (address, connection.remotePort) }
        facts.heads.append(HeadText(head: head, connection: connection))
        facts.isFollowed = false
      case .redirected(_, let url):
        facts.redirects += 1
        facts.location = url
        facts.isFollowed = true
      default: break
      }
    }
  }

  func note(_ event: WireEvent, at now: ResolverInstant) {
    facts.withLock { facts in
      facts.times.note(event, at: now)
      switch event {
      case .opened(let address):
        if let address { facts.remote = (address, (facts.location ?? job.url).effectivePort) }
        facts.waiting += 1
      case .proxy(let address, let port): facts.remote = (address, port)
      case .head(let bytes): facts.headSize += Int64(bytes)
      case .response: break
      }
    }
  }

  func sent(_ progress: TransferProgress) { facts.withLock { $0.sent = progress.sent } }

  func received(_ response: DirectResponse) { facts.withLock { $0.response = response } }
  func received(_ count: Int) { facts.withLock { $0.received += Int64(count) } }

  func end(_ status: ExitStatus, _ message: String?, at now: ResolverInstant) {
    facts.withLock { facts in
      facts.elapsed = max(now - (facts.began ?? now), facts.response?.timings.total ?? .zero)
      (facts.status, facts.message) = (status, message)
      // Without a failure, one that still waits has only lost the race.
      if status != .answered { facts.connects += facts.waiting }
      facts.waiting = 0
    }
  }
}
