// SPDX-License-Identifier: Apache-2.0
public import DirectDNS
public import Foundation

/// What Foundation shows of an error: without this, `localizedDescription` would be the type's name and a number.
extension DirectDNSError: LocalizedError {
  /// The message, and below it everyone who was asked: ``/DirectDNS/DirectDNSError/description``.
  public var errorDescription: String? { description }
}
