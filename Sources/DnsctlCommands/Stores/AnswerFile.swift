// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import DirectDNSConfiguration

/// Stored answers as lines of JSON: a line with the format's name, then one for each answer.
///
/// `{"format":"directdns-answers","version":1}`, and
/// `{"host":…,"type":"A"|"AAAA","addresses":[…]|null,"negative":"nameNotFound"|"noAddress"|null,"canonicalName":…|null,`
/// `"provider":…,"asked":…,"expires":…,"gone":…}`, instants in milliseconds since 1970.
enum AnswerFile {
  static let format = "directdns-answers"
  static let version = 1

  static let head = "{\"format\":\"\(format)\",\"version\":\(version)}\n"

  /// The furthest instant in milliseconds: integers beyond 2^53 - 1 are not exact in JSON (RFC 8259 §6).
  private static let furthest: Int64 = 0x1F_FFFF_FFFF_FFFF

  /// An instant as an export has it: one that is further away, such as the end of what is never gone, is as far as one
  /// can be.
  static func milliseconds(_ instant: WallInstant) -> Int64 { min(max(instant.milliseconds, -furthest), furthest) }

  private enum HeadKey: String, ConfigurationKey { case format, version }

  private enum Key: String, ConfigurationKey {
    case host, type, addresses, negative, canonicalName, provider, asked, expires, gone
  }

  private enum TypeWord: String, CaseIterable { case A, AAAA }

  enum NegativeWord: String, CaseIterable { case nameNotFound, noAddress }

  /// Checks the first line.
  static func checkHead(_ line: String) throws(DirectDNSError) {
    try JSONLineReader.read(line) { node throws(ConfigurationFault) in
      let expectation = "The first line of an export is \(head.dropLast())"
      let object = try node.openObject(HeadKey.self)
      guard case .text(format)? = object[.format]?.value else { throw object.missing(.format, expectation) }
      guard let number = object[.version] else { throw object.missing(.version, expectation) }
      _ = try number.number("This dnsctl reads version \(version).") { $0 == Double(version) }
    }
  }

  /// Reads an answer.
  static func answer(_ line: String) throws(DirectDNSError) -> StoredAnswer {
    try JSONLineReader.read(line) { node throws(ConfigurationFault) in
      let object = try node.object(Key.self)
      func need(_ key: Key, _ expectation: String) throws(ConfigurationFault) -> ConfigurationNode {
        guard let node = object[key] else { throw object.missing(key, expectation) }
        return node
      }
      func instant(_ key: Key) throws(ConfigurationFault) -> WallInstant {
        let expectation = "Give milliseconds since 1970."
        let number = try need(key, expectation).number(expectation) {
          $0.rounded() == $0 && abs($0) <= Double(furthest)
        }
        return WallInstant(milliseconds: Int64(number))
      }
      let family: IPAddress.Family =
        try need(.type, "Give \"A\" or \"AAAA\".").choice(TypeWord.self) == .A ? .ipv4 : .ipv6
      let host = try need(.host, "Give a host name.").hostName()
      let (asked, expires, gone) = (try instant(.asked), try instant(.expires), try instant(.gone))
      guard asked <= expires, expires <= gone else {
        throw ConfigurationFault("asked, expires and gone are not in this order. Give instants that are.")
      }
      return StoredAnswer(
        AddressQuestion(host, family), try content(object, family),
        canonicalName: try object[.canonicalName]?.hostName(),
        provider: try need(.provider, "Give the name of who said it.").text("Give the name of who said it."),
        asked: asked, expires: expires, gone: gone)
    }
  }

  private static func content(
    _ object: ConfigurationObject<Key>, _ family: IPAddress.Family
  ) throws(ConfigurationFault) -> Answer.Content {
    guard let node = object[.addresses] else {
      guard let negative = object[.negative] else {
        throw object.missing(.addresses, "Give a list of addresses, or negative.")
      }
      return .negative(try negative.choice(NegativeWord.self) == .nameNotFound ? .nameNotFound : .noAddress)
    }
    if let negative = object[.negative] { throw negative.fault("An answer has addresses or is negative: give one.") }
    let list = try node.list("Give a list of addresses.")
    guard (1...Answer.addressLimit).contains(list.count) else {
      throw node.fault("Give 1 to \(Answer.addressLimit) addresses.")
    }
    return .addresses(
      try list.map { node throws(ConfigurationFault) in
        let address = try node.address()
        guard address.family == family else { throw node.fault("Give addresses of the type that the line names.") }
        return address
      })
  }
}

extension JSONLine {
  /// A stored answer.
  init(_ answer: StoredAnswer) {
    self.init()
    var addresses: String?
    var negative: AnswerFile.NegativeWord?
    switch answer.content {
    case .addresses(let list): addresses = Self.array(list.map { "\"\($0)\"" })
    case .negative(.nameNotFound): negative = .nameNotFound
    case .negative(.noAddress): negative = .noAddress
    }
    add("host", Self.string(answer.question.host.text))
    add("type", "\"\(answer.question.type)\"")
    add("addresses", addresses)
    add("negative", negative.map { "\"\($0.rawValue)\"" })
    add("canonicalName", answer.canonicalName.map { Self.string($0.text) })
    add("provider", Self.string(answer.provider))
    add("asked", "\(AnswerFile.milliseconds(answer.asked))")
    add("expires", "\(AnswerFile.milliseconds(answer.expires))")
    add("gone", "\(AnswerFile.milliseconds(answer.gone))")
  }
}
