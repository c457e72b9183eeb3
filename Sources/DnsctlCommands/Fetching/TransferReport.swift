// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import HTTPTypes
internal import Synchronization

/// What is known of a job's transfer, as it goes on.
final class TransferReport: Sendable {
  struct Facts: Sendable {
    /// The last response; nil while there is none.
    var response: DirectResponse?
    /// The method of the last request: redirects may change it.
    var method: HTTPRequest.Method
    /// Bytes of the body that came and were sent.
    var received: Int64 = 0
    var sent: Int64 = 0
    /// All of it, to the end of the body.
    var elapsed: Duration = .zero
    var status = ExitStatus.answered
    var message: String?
  }

  let job: FetchJob
  private let began: ResolverInstant
  private let facts: Mutex<Facts>

  init(_ job: FetchJob, at now: ResolverInstant) {
    self.job = job
    began = now
    facts = Mutex(Facts(method: job.request.method))
  }

  var now: Facts { facts.withLock { $0 } }

  /// A try begins: what came of another one does not count.
  func begin() {
    facts.withLock { $0 = Facts(method: job.request.method, sent: job.bodyLength ?? 0) }
  }

  func note(_ event: RequestEvent) {
    if case .requesting(let request) = event { facts.withLock { $0.method = request.method } }
  }

  func received(_ response: DirectResponse) { facts.withLock { $0.response = response } }
  func received(_ count: Int) { facts.withLock { $0.received += Int64(count) } }
  func sent(_ count: Int) { facts.withLock { $0.sent += Int64(count) } }

  func end(_ status: ExitStatus, _ message: String?, at now: ResolverInstant) {
    facts.withLock { facts in
      facts.elapsed = max(now - began, facts.response?.timings.total ?? .zero)
      (facts.status, facts.message) = (status, message)
    }
  }
}
