// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// The result for one name.
struct LookupOutcome: Sendable {
  /// The name as it was asked for.
  var host: String
  var result: Result<Resolution, DirectDNSError>
  var elapsed: Duration

  var status: ExitStatus {
    switch result {
    case .success: .answered
    case .failure(let error): ExitStatus(error)
    }
  }
}

/// The output for one name, by streams.
struct RenderedOutcome: Sendable, Hashable {
  var output = ""
  var errors = ""
}
