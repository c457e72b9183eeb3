// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// Compares several sources' answers to one question: a pure function.
///
/// The DNS of a site with many servers answers with different addresses each time, so that different ones alone are no
/// disagreement. A source disagrees
///
/// - when it has addresses and others say that there are none, or the other way round: the smaller group disagrees, of
///   two equal ones that without addresses, and always that with addresses if none of them is public;
/// - when it has an address that no public server has (private, loopback and the like, by the policy `publicOnly`), and
///   another source with addresses does not have that one.
///
/// It only differs when none of its addresses is in a network of another source's, when it says NXDOMAIN where others
/// say NODATA, and when it says that an answer is authenticated where others do not.
struct Comparison: Sendable, Hashable {
  /// Something in which one source deviates from the others.
  struct Remark: Sendable, Hashable {
    enum Kind: String, Sendable, Hashable {
      /// It has addresses, and others say that there are none.
      case answer
      /// It says that there are none, and others have some.
      case noAnswer
      /// It has an address that no public server has.
      case notPublic
      case otherNetwork
      /// It says that the name does not exist, and others say that it has no address.
      case otherDenial
      case authenticated

      /// Whether it is a disagreement, not only a difference.
      var isDisagreement: Bool { self == .answer || self == .noAnswer || self == .notPublic }
    }

    var kind: Kind
    var text: String
  }

  enum Verdict: String, Sendable, Hashable {
    case agree, differ, disagree
    /// Fewer than two answered, so there is nothing to compare.
    case unanswered
  }

  var answers: [SourceAnswer]
  /// The remarks about each answer, in their order.
  private(set) var remarks: [[Remark]]

  init(_ answers: [SourceAnswer]) {
    self.answers = answers
    remarks = answers.map { _ in [] }
    let speaking = answers.indices.filter { !answers[$0].hasFailed }
    remarkDenials(speaking)
    for index in speaking { remarkAddresses(index, others: speaking.filter { $0 != index }) }
    remarkAuthentication(speaking)
  }

  var verdict: Verdict {
    guard answers.count(where: { !$0.hasFailed }) > 1 else { return .unanswered }
    let all = remarks.joined()
    return all.contains(where: \.kind.isDisagreement) ? .disagree : all.isEmpty ? .agree : .differ
  }

  /// The exit status for it.
  ///
  /// - Parameter isStrict: whether differences count as disagreements.
  /// - Returns: the status of this one comparison.
  func status(isStrict: Bool) -> ExitStatus {
    switch verdict {
    case .disagree: return .disagreement
    case .differ where isStrict: return .disagreement
    case .agree, .differ, .unanswered: break
    }
    if answers.contains(where: \.hasFailed) { return .upstreamFailed }
    return answers.contains { !$0.addresses.isEmpty } ? .answered : .noAnswer
  }

  /// The sources that disagree, by their names.
  var dissenters: [String] {
    zip(answers, remarks).filter { $0.1.contains(where: \.kind.isDisagreement) }.map(\.0.source)
  }

  private mutating func add(_ kind: Remark.Kind, _ text: String, to index: Int) {
    remarks[index].append(Remark(kind: kind, text: text))
  }

  // MARK: Rules

  private mutating func remarkDenials(_ speaking: [Int]) {
    let having = speaking.filter { !answers[$0].addresses.isEmpty }
    let lacking = speaking.filter { answers[$0].addresses.isEmpty }
    if having.isEmpty {
      let missing = lacking.filter { answers[$0].nameExists == false }
      guard lacking.contains(where: { answers[$0].nameExists == true }) else { return }
      for index in missing { add(.otherDenial, "others say that the name exists", to: index) }
    } else if !lacking.isEmpty {
      let isPublic = having.contains { index in
        answers[index].addresses.contains { AddressPolicy.publicOnly.objection(to: $0) == nil }
      }
      // If no address is public, those that made them up are reported, and not those without addresses.
      guard having.count < lacking.count || !isPublic else {
        for index in lacking { add(.noAnswer, "others have addresses", to: index) }
        return
      }
      for index in having { add(.answer, "others say that there is none", to: index) }
    }
  }

  private mutating func remarkAddresses(_ index: Int, others: [Int]) {
    let addresses = answers[index].addresses
    guard !addresses.isEmpty, !others.isEmpty else { return }
    for address in addresses {
      guard let objection = AddressPolicy.publicOnly.objection(to: address),
        others.contains(where: { !answers[$0].addresses.contains(address) })
      else { continue }
      let range = objection.rangeName.map { " (\($0))" } ?? ""
      add(.notPublic, "\(address) is not a public address\(range), and not everybody has it", to: index)
    }
    let networks = Set(others.flatMap { answers[$0].addresses.map(Self.network) })
    if !networks.isEmpty, networks.isDisjoint(with: addresses.map(Self.network)) {
      add(.otherNetwork, "in other networks than the others", to: index)
    }
  }

  /// The network that addresses of one operator usually share: /16 of IPv4, /32 of IPv6, as registries allocate them.
  private static func network(_ address: IPAddress) -> [UInt8] {
    Array(address.bytes.prefix(address.family == .ipv4 ? 2 : 4))
  }

  private mutating func remarkAuthentication(_ speaking: [Int]) {
    let telling = speaking.filter { answers[$0].isAuthenticated != nil }
    let authenticated = telling.filter { answers[$0].isAuthenticated == true }
    guard authenticated.count < telling.count else { return }
    for index in authenticated { add(.authenticated, "authenticated (AD), and not with the others", to: index) }
  }
}
