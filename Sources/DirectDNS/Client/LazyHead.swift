// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes
internal import Synchronization

/// A response's head whose fields are read, and get the name back, when somebody first asks for them.
///
/// To make `HTTPFields` takes a tenth of what a whole request does, and many who send look at the status alone.
final class LazyHead: Sendable {
  let status: HTTPResponse.Status
  /// Whether it may have a field in which an address can stand for the name; see ``ResponseRestorer``.
  let hasRestorableField: Bool
  private let received: ResponseHead?
  private let restorer: ResponseRestorer?
  private let made = AtomicLazyReference<Made>()

  private final class Made: Sendable {
    let response: HTTPResponse

    init(_ response: HTTPResponse) { self.response = response }
  }

  /// - Parameters:
  ///   - head: what came.
  ///   - restorer: what puts the name back; nil where there is nothing to put back.
  init(_ head: ResponseHead, _ restorer: ResponseRestorer?) {
    status = head.status
    hasRestorableField = head.hasRestorableField
    received = head
    self.restorer = restorer
  }

  /// Of a head that was made, and not received.
  init(_ response: HTTPResponse) {
    status = response.status
    hasRestorableField = true
    received = nil
    restorer = nil
    _ = made.storeIfNil(Made(response))
  }

  /// Status and fields: the same each time, whoever asks first.
  var response: HTTPResponse {
    if let made = made.load() { return made.response }
    let read = received?.response ?? HTTPResponse(status: status)
    return made.storeIfNil(Made(restorer?.restore(read) ?? read)).response
  }
}
