// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// What came of one name.
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

/// What is written for one name, and where.
struct RenderedOutcome: Sendable, Hashable {
  var output = ""
  var errors = ""
}
