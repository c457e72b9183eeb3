// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
package import DirectDNSConfiguration

/// Options that are times, with what is wrong with one as an error of the command line parser.
extension Seconds {
  /// The value of an option that is a timeout.
  package static func timeoutOption(_ text: String) throws -> Duration {
    guard let time = timeout(text) else { throw ValidationError(timeoutExpectation) }
    return time
  }

  /// The value of an option that is a time to wait, or one of curl's, where 0 is the default.
  package static func waitOption(_ text: String) throws -> Duration {
    guard let time = wait(text) else { throw ValidationError(waitExpectation) }
    return time
  }
}
