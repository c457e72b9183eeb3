// SPDX-License-Identifier: Apache-2.0
/// What a response's header says of the server that sent it.
struct ResponseFlags: Sendable, Hashable {
  /// It is an authority for the name that was asked for (AA).
  var isAuthoritative = false
  /// It looks names up for others (RA).
  var recursionAvailable = true

  /// Makes sure that a NOERROR response without a record that was asked for says that there is none.
  ///
  /// One that names a zone's servers is a referral (RFC 2308 §2.2), and what a server says that looks nothing up for
  /// others holds for its own zones alone, and not for where an alias leads. To take such a response for a negative answer
  /// would take a known answer away.
  ///
  /// - Parameters:
  ///   - authority: the types of the authority section's records.
  ///   - aliases: how many aliases were followed.
  /// - Throws: that it is a referral.
  func checkIsAnswer(authority: some Sequence<DNSRecordType>, aliases: Int) throws(ProviderFailure) {
    var isReferral = !recursionAvailable && (!isAuthoritative || aliases > 0)
    for type in authority {
      if type == .soa { return }
      if type == .ns { isReferral = true }
    }
    guard !isReferral else {
      throw ProviderFailure(.response, "answered by a referral: it does not look this name up for others")
    }
  }
}
