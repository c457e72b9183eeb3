// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// The result for one name.
struct LookupOutcome: Sendable {
  /// The name as it was asked for.
  var host: String
  var result: Result<Resolution, DirectDNSError>
  var elapsed: Duration

  var status: ExitStatus { result.error.map { ExitStatus($0) } ?? .answered }
}

extension Result where Failure == DirectDNSError {
  /// Why there is no value; nil if there is one.
  var error: DirectDNSError? { if case .failure(let error) = self { error } else { nil } }
}

/// The output for one name, by streams.
struct RenderedOutcome: Sendable, Hashable {
  var output = ""
  var errors = ""
}
