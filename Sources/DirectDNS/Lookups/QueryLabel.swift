// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// What a query's end is called in metrics: one of a few words, never a reply's own.
struct QueryLabel: Sendable, Hashable {
  let text: String

  /// - Parameters:
  ///   - result: what came of the query.
  ///   - error: why there was no reply, where there was none.
  ///   - status: the reply's status.
  init(_ result: Result<Answer, ProviderFailure>, error: HTTPTransportError? = nil, status: HTTPResponse.Status? = nil)
  {
    text =
      switch result {
      case .success(let answer):
        switch answer.content {
        case .addresses: "answered"
        case .negative(.nameNotFound): "nameNotFound"
        case .negative(.noAddress): "noAddress"
        }
      case .failure(let failure): Self.text(failure.kind, error, status)
      }
  }

  private static func text(
    _ kind: ProviderFailure.Kind, _ error: HTTPTransportError?, _ status: HTTPResponse.Status?
  ) -> String {
    switch (kind, error) {
    case (_, .timedOut?): "timedOut"
    case (.cancelled, _): "cancelled"
    case (.rateLimited, _): "rateLimited"
    case (.response, _): "refused"
    case (.transport, .connect?): "connectFailed"
    case (.transport, .tls?): "tlsFailed"
    case (.transport, .connectionLost?): "connectionLost"
    case (.transport, .bodyTooLarge?): "bodyTooLarge"
    case (.transport, .fieldsTooLarge?): "fieldsTooLarge"
    case (.transport, .invalidRequest?), (.transport, .cancelled?), (.transport, .shutDown?): "failed"
    case (.transport, nil):
      switch status?.kind {
      case nil: "failed"
      case .successful: "malformed"
      default: "httpStatus"
      }
    }
  }
}
