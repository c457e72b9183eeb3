// SPDX-License-Identifier: Apache-2.0
public import DirectDNS

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#else
  public import Foundation
#endif

/// What came of rewriting a `URLRequest`.
public enum URLRequestOutcome: Sendable {
  /// The request goes straight to an address; what it was made of restores the response.
  case direct(URLRequest, DirectRequest)
  /// The request goes by name, as it came but for a foreign `originalUrl`; and why.
  case bypassed(URLRequest, reason: RewriteOutcome.BypassReason)
  /// The request must not be sent: to its address, or at all.
  case refused(DirectDNSError)
}

/// What becomes of requests over TLS, whose certificate `URLSession` checks against the host in the URL.
///
/// With an address there it sends no SNI and looks for the address in the certificate, and on Linux there is no way to
/// tell it the name. Nothing here ever turns the check off.
public enum SecureURLRequests: Hashable, Sendable {
  /// They are refused, with the reason: nothing leaves that the address policy has not seen. The default.
  case refused
  /// They go by name and `URLSession` looks it up itself: the address policy has no say in where it connects.
  case byName
  /// They go to the address like any other: for certificates that name it, and for senders other than `URLSession` that
  /// verify `DirectRequest.serverName`.
  case byAddress
}
